/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * errhandler.c - error handlers of files.
 *
 * An MPI_Errhandler hides its function, and libmpich accepts only its own files.  So
 * MPI_File_create_errhandler creates an error handler of a communicator, for its handle,
 * and stores the function for the file with that handle.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#include <mpioimpl.h>

#include <adio_extern.h>

struct file_handler {
	struct file_handler *next;
	MPI_Errhandler handle;
	MPI_File_errhandler_function *fn;
};

/* The error handlers of the process. */
static struct {
	pthread_mutex_t lock;
	struct file_handler *first;
} handlers = { .lock = PTHREAD_MUTEX_INITIALIZER };

static struct file_handler *find_handler(MPI_Errhandler handle)
{
	struct file_handler *k = handlers.first;

	while (k && k->handle != handle)
		k = k->next;
	return k;
}

/* Stores the function of a handle.  MPI may reuse a freed handle, so the newest function counts. */
static int store_function(MPI_Errhandler handle,
			  MPI_File_errhandler_function *fn)
{
	struct file_handler *k;

	pthread_mutex_lock(&handlers.lock);
	k = find_handler(handle);
	if (!k && (k = malloc(sizeof(*k)))) {
		k->handle = handle;
		k->next = handlers.first;
		handlers.first = k;
	}
	if (k)
		k->fn = fn;
	pthread_mutex_unlock(&handlers.lock);
	return k ? MPI_SUCCESS : MPI_ERR_NO_MEM;
}

static MPI_File_errhandler_function *function_of(MPI_Errhandler handle)
{
	struct file_handler *k;

	pthread_mutex_lock(&handlers.lock);
	k = find_handler(handle);
	pthread_mutex_unlock(&handlers.lock);
	return k ? k->fn : NULL;
}

int PMPI_File_create_errhandler(MPI_File_errhandler_function *fn,
				MPI_Errhandler *handle)
{
	int err = PMPI_Comm_create_errhandler(
		(MPI_Comm_errhandler_function *)(void (*)(void))fn, handle);

	return err == MPI_SUCCESS ? store_function(*handle, fn) : err;
}

static bool is_file(MPI_File file)
{
	return file != MPI_FILE_NULL && file->cookie == ADIOI_FILE_COOKIE;
}

int PMPI_File_set_errhandler(MPI_File file, MPI_Errhandler handle)
{
	if (file != MPI_FILE_NULL && !is_file(file))
		return MPI_ERR_FILE;
	if (file == MPI_FILE_NULL)
		ADIOI_DFLT_ERR_HANDLER = handle;
	else
		file->err_handler = handle;
	return MPI_SUCCESS;
}

int PMPI_File_get_errhandler(MPI_File file, MPI_Errhandler *handle)
{
	if (file != MPI_FILE_NULL && !is_file(file))
		return MPI_ERR_FILE;
	*handle = file == MPI_FILE_NULL ? ADIOI_DFLT_ERR_HANDLER
					: file->err_handler;
	return MPI_SUCCESS;
}

static void abort_with_error(MPI_File file, int error_code)
{
	char text[MPI_MAX_ERROR_STRING];
	int len;

	PMPI_Error_string(error_code, text, &len);
	fprintf(stderr, "MPI-IO error: %.*s\n", len, text);
	PMPI_Abort(is_file(file) ? file->comm : MPI_COMM_WORLD, error_code);
}

int MPIO_Err_return_file(MPI_File file, int error_code)
{
	MPI_File_errhandler_function *fn;
	MPI_Errhandler handle = is_file(file) ? file->err_handler
					      : ADIOI_DFLT_ERR_HANDLER;

	if (error_code == MPI_SUCCESS || handle == MPI_ERRORS_RETURN)
		return error_code;
	fn = function_of(handle);
	if (fn)
		fn(&file, &error_code, NULL);
	else
		abort_with_error(file, error_code);
	return error_code;
}

int MPIO_Err_return_comm(MPI_Comm comm, int error_code)
{
	PMPI_Comm_call_errhandler(comm, error_code);
	return error_code;
}

int PMPI_File_call_errhandler(MPI_File file, int error_code)
{
	MPIO_Err_return_file(file, error_code);
	return MPI_SUCCESS;
}

#pragma weak MPI_File_create_errhandler = PMPI_File_create_errhandler
#pragma weak MPI_File_set_errhandler = PMPI_File_set_errhandler
#pragma weak MPI_File_get_errhandler = PMPI_File_get_errhandler
#pragma weak MPI_File_call_errhandler = PMPI_File_call_errhandler
