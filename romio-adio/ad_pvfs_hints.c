/* SPDX-License-Identifier: BSD-2-Clause */
/* ad_pvfs_hints.c - the hints of the driver, equal on all ranks. */

#include <errno.h>
#include <limits.h>

#include "romio-adio/ad_pvfs.h"
#include "romio-adio/hint_number.h"

#include <hint_fns.h>

static void set_int(ADIO_File fd, MPI_Info info, const char *key, int *value,
		    int *error_code)
{
	if (info != MPI_INFO_NULL)
		ADIOI_Info_check_and_install_int(fd, info, key, value,
						 "ad_pvfs_set_info",
						 error_code);
}

/* enable, disable or automatic: whether noncontiguous accesses use list I/O. */
static void set_listio(ADIO_File fd, MPI_Info info, const char *key, int *value,
		       int *error_code)
{
	if (info != MPI_INFO_NULL)
		ADIOI_Info_check_and_install_enabled(fd, info, key, value,
						     "ad_pvfs_set_info",
						     error_code);
}

/* Sets start_iodevice at the open.  Hints for a new file cannot change later. */
static void set_first(ADIO_File fd, MPI_Info info, int *error_code)
{
	ADIOI_Hints *hints = fd->hints;

	MPI_Info_create(&fd->info);
	hints->start_iodevice = -1;
	set_int(fd, info, "striping_factor", &hints->striping_factor,
		error_code);
	set_int(fd, info, "striping_unit", &hints->striping_unit, error_code);
	set_int(fd, info, "start_iodevice", &hints->start_iodevice, error_code);
	hints->fs_hints.pvfs.listio_read = ADIOI_HINT_AUTO;
	hints->fs_hints.pvfs.listio_write = ADIOI_HINT_AUTO;
	ADIOI_Info_set(fd->info, "romio_pvfs_listio_read", "automatic");
	ADIOI_Info_set(fd->info, "romio_pvfs_listio_write", "automatic");
}

/*
 * Numeric hints and their minimum.  ROMIO divides by the size of a buffer, or loops forever if the
 * size is 0.  ROMIO or the file system corrects the other numbers.
 */
static const struct number {
	const char *key;
	int least;
} numbers[] = {
	{ "striping_factor", INT_MIN },
	{ "striping_unit", INT_MIN },
	{ "start_iodevice", INT_MIN },
	{ "cb_buffer_size", 1 },
	{ "cb_nodes", INT_MIN },
	{ "ind_rd_buffer_size", 1 },
	{ "ind_wr_buffer_size", 1 },
	{ "romio_min_fdomain_size", INT_MIN },
	{ "romio_cb_ds_threshold", INT_MIN },
	{ "romio_cb_fr_alignment", 1 },
	{ "romio_cb_fr_type", INT_MIN },
};

static const char *rejection_reason(int rc)
{
	if (rc == -EDOM)
		return "it is too small";
	return rc == -ERANGE ? "it is too large" : "it is no number";
}

/* Only one rank writes the message. */
static void report_invalid_hint(const ADIO_File fd, const char *key,
				const char *text, int rc)
{
	int rank;

	MPI_Comm_rank(fd->comm, &rank);
	if (!rank)
		fprintf(stderr,
			"%s: hint %s=%s is ignored: %s; write digits, or "
			"digits and k, m or g\n",
			fd->filename, key, text, rejection_reason(rc));
}

/*
 * Replaces a numeric hint by a plain number.  ROMIO would parse only the start of the text, and use
 * the lower 32 bits of the number.
 */
static void clean_number(const ADIO_File fd, MPI_Info info,
			 const struct number *number)
{
	char text[MPI_MAX_INFO_VAL + 1];
	int given, value, rc;

	ADIOI_Info_get(info, number->key, MPI_MAX_INFO_VAL, text, &given);
	if (!given)
		return;
	rc = hint_number(text, &value);
	if (!rc && value < number->least)
		rc = -EDOM;
	if (rc) {
		report_invalid_hint(fd, number->key, text, rc);
		MPI_Info_delete(info, number->key);
		return;
	}
	snprintf(text, sizeof(text), "%d", value);
	ADIOI_Info_set(info, number->key, text);
}

/*
 * Removes striping_unit from info, because ROMIO would show a later request as if the file had it.
 */
static void drop_striping_unit(MPI_Info info)
{
	char text[MPI_MAX_INFO_VAL + 1];
	int given = 0;

	if (info != MPI_INFO_NULL)
		ADIOI_Info_get(info, "striping_unit", MPI_MAX_INFO_VAL, text,
			       &given);
	if (given)
		MPI_Info_delete(info, "striping_unit");
}

/* Copies the hints, with plain numbers and without invalid ones. */
static MPI_Info copy_valid_hints(const ADIO_File fd, MPI_Info info)
{
	MPI_Info out = MPI_INFO_NULL;

	if (info == MPI_INFO_NULL || MPI_Info_dup(info, &out) != MPI_SUCCESS)
		return MPI_INFO_NULL;
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		clean_number(fd, out, &numbers[i]);
	return out;
}

void ad_pvfs_set_info(ADIO_File fd, MPI_Info given, int *error_code)
{
	MPI_Info info = copy_valid_hints(fd, given);

	*error_code = MPI_SUCCESS;
	if (fd->info == MPI_INFO_NULL)
		set_first(fd, info, error_code);
	else
		drop_striping_unit(info);
	set_listio(fd, info, "romio_pvfs_listio_read",
		   &fd->hints->fs_hints.pvfs.listio_read, error_code);
	set_listio(fd, info, "romio_pvfs_listio_write",
		   &fd->hints->fs_hints.pvfs.listio_write, error_code);
	if (*error_code == MPI_SUCCESS)
		ADIOI_GEN_SetInfo(fd, info, error_code);
	if (info != MPI_INFO_NULL)
		MPI_Info_free(&info);
}
