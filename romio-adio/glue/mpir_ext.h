/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mpir_ext.h - what ROMIO needs from the MPI library that contains it.  The files of this
 * folder implement it with public MPI calls only (env.c, lock.c, iscontig.c).
 */
#ifndef MPIR_EXT_H
#define MPIR_EXT_H

#include <assert.h>
#include <mpi.h>

#define MPIR_Ext_assert(a) assert(a)

int MPIR_Ext_init(void);
void MPIR_Ext_cs_enter(void);
void MPIR_Ext_cs_exit(void);
int MPIR_Ext_datatype_iscommitted(MPI_Datatype type);
int MPIR_Get_node_id(MPI_Comm comm, int rank, int *id);
void MPIR_Datatype_iscontig(MPI_Datatype type, int *flag);

#endif
