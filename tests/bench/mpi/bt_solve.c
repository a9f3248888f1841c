/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bt_solve.c - the computation of BT of the NAS benchmarks.  In each of three directions, every
 * line of cells is a block tridiagonal system with blocks of 5 x 5.  Here, ranks do not exchange
 * the faces of their cells: each rank solves its own cells alone.
 */
#include <string.h>

#include "tests/bench/mpi/mpi_bench.h"

#define N 5 /* unknowns of a cell */
#define SIDE_MAX 256

typedef double block[N][N];

/* weight * u * vT, plus the diagonal.  The product is so small that any elimination works. */
static void make_block(block b, const double *u, double weight, double diagonal)
{
	for (int i = 0; i < N; i++)
		for (int j = 0; j < N; j++)
			b[i][j] = weight * u[i] * (j + 1) +
				  (i == j ? diagonal : 0);
}

/* b -= a * c, v -= a * w */
static void subtract(block b, double *v, block a, block c, const double *w)
{
	for (int i = 0; i < N; i++)
		for (int k = 0; k < N; k++) {
			for (int j = 0; j < N; j++)
				b[i][j] -= a[i][k] * c[k][j];
			v[i] -= a[i][k] * w[k];
		}
}

/* Multiplies c and v by the inverse of b. */
static void solve_block(block b, block c, double *v)
{
	for (int k = 0; k < N; k++) {
		double by = 1 / b[k][k];

		for (int j = 0; j < N; j++) {
			b[k][j] *= by;
			c[k][j] *= by;
		}
		v[k] *= by;
		for (int i = 0; i < N; i++) {
			double f = b[i][k];

			if (i == k)
				continue;
			for (int j = 0; j < N; j++) {
				b[i][j] -= f * b[k][j];
				c[i][j] -= f * c[k][j];
			}
			v[i] -= f * v[k];
		}
	}
}

/* Solves one line of n elements, which begins at u; elements are stride doubles apart. */
static void solve_line(double *u, int n, ptrdiff_t stride)
{
	static block upper[SIDE_MAX];
	block lower, middle;

	for (int i = 0; i < n; i++) {
		double *at = u + i * stride;

		make_block(middle, at, 0.01, 4);
		make_block(upper[i], at, 0.01, -1);
		if (i) {
			make_block(lower, at, 0.01, -1);
			subtract(middle, at, lower, upper[i - 1], at - stride);
		}
		solve_block(middle, upper[i], at);
	}
	for (int i = n - 2; i >= 0; i--)
		for (int j = 0; j < N; j++)
			for (int k = 0; k < N; k++)
				u[i * stride + j] -= upper[i][j][k] *
						     u[(i + 1) * stride + k];
}

/*
 * Solves all lines of a cube in the direction with distance `step`; a and b are the distances in
 * the other two directions.
 */
static void sweep(double *cube, int side, ptrdiff_t step, ptrdiff_t a,
		  ptrdiff_t b)
{
	for (int i = 0; i < side; i++)
		for (int j = 0; j < side; j++)
			solve_line(cube + i * a + j * b, side, step);
}

/* Adds the force term of the equation.  Without it, all values would approach zero. */
static void force(double *cube, int side)
{
	for (ptrdiff_t i = 0; i < (ptrdiff_t)side * side * side * N; i++)
		cube[i] += 0.5;
}

void bt_solve(const struct pattern *p, int times)
{
	const ptrdiff_t x = N, y = x * p->side, z = y * p->side;
	double *cubes = (double *)(void *)p->buf;

	if (p->side > SIDE_MAX)
		die("a side of %d cells", p->side);
	while (times-- > 0)
		for (int c = 0; c < p->cells; c++) {
			double *cube = cubes + c * z * p->side;

			force(cube, p->side);
			sweep(cube, p->side, x, y, z);
			sweep(cube, p->side, y, x, z);
			sweep(cube, p->side, z, x, y);
		}
}
