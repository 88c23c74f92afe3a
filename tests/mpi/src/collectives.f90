! All four collectives through "use mpi". Array arguments, MPI_IN_PLACE and Fortran's own types.
program collectives
  use mpi
  implicit none
  integer, parameter :: many = 5000
  integer, parameter :: few = 50 ! MPICH 4.0.2 crashes in longer reductions in place at other roots than 0
  integer :: rank, ranks, root, i, failed, all_failed, error
  integer :: numbers(many), sums(many), pair(2), best(2)
  double precision :: real_numbers(many), real_sums(many)
  logical :: mine, everyone
  complex :: c, csum

  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  failed = 0

  call MPI_Barrier(MPI_COMM_WORLD, error)
  do root = 0, ranks - 1
    numbers = -1
    if (rank == root) numbers = [(i * 3 + root, i = 1, many)]
    call MPI_Bcast(numbers, many, MPI_INTEGER, root, MPI_COMM_WORLD, error)
    call expect(all(numbers == [(i * 3 + root, i = 1, many)]), "bcast")

    numbers = [(i + rank, i = 1, many)]
    sums = -1
    call MPI_Reduce(numbers, sums, many, MPI_INTEGER, MPI_SUM, root, MPI_COMM_WORLD, error)
    if (rank == root) call expect(all(sums == [(ranks * i + ranks * (ranks - 1) / 2, i = 1, many)]), "reduce")

    sums = numbers
    if (rank == root) then
      call MPI_Reduce(MPI_IN_PLACE, sums, few, MPI_INTEGER, MPI_MAX, root, MPI_COMM_WORLD, error)
      call expect(all(sums(1:few) == [(i + ranks - 1, i = 1, few)]), "reduce in place")
    else
      call MPI_Reduce(sums, numbers, few, MPI_INTEGER, MPI_MAX, root, MPI_COMM_WORLD, error)
    end if
  end do

  real_numbers = [(dble(i + rank), i = 1, many)]
  call MPI_Allreduce(real_numbers, real_sums, many, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, error)
  call expect(all(real_sums == [(dble(ranks * i + ranks * (ranks - 1) / 2), i = 1, many)]), "allreduce")
  call MPI_Allreduce(MPI_IN_PLACE, real_numbers, many, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, error)
  call expect(all(real_sums == real_numbers), "allreduce in place")

  mine = rank /= 0
  call MPI_Allreduce(mine, everyone, 1, MPI_LOGICAL, MPI_LAND, MPI_COMM_WORLD, error)
  call expect(.not. everyone, "allreduce of logicals, and")
  call MPI_Allreduce(mine, everyone, 1, MPI_LOGICAL, MPI_LOR, MPI_COMM_WORLD, error)
  call expect(everyone .eqv. ranks > 1, "allreduce of logicals, or")

  c = cmplx(rank, -1)
  call MPI_Allreduce(c, csum, 1, MPI_COMPLEX, MPI_SUM, MPI_COMM_WORLD, error)
  call expect(csum == cmplx(ranks * (ranks - 1) / 2, -ranks), "allreduce of complex numbers")

  pair = [mod(rank + 1, ranks), rank]
  call MPI_Allreduce(pair, best, 1, MPI_2INTEGER, MPI_MAXLOC, MPI_COMM_WORLD, error)
  call expect(all(best == [ranks - 1, mod(ranks - 2 + ranks, ranks)]), "allreduce of pairs")

  call MPI_Reduce(failed, all_failed, 1, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD, error)
  if (rank == 0) print '(a, i0, a)', "collectives.f90: ", all_failed, " failed"
  call MPI_Finalize(error)
  if (failed > 0) stop 1
contains
  subroutine expect(right, what)
    logical, intent(in) :: right
    character(*), intent(in) :: what
    if (right) return
    failed = failed + 1
    print '(3a, i0)', "FAILED ", what, " on rank ", rank
  end subroutine
end program
