! Data at absolute addresses, from Fortran: MPI_BOTTOM on either side.
program bottom
  use mpi
  implicit none
  integer, parameter :: most = 16
  integer :: error, rank, ranks, from, to, failures, i, root
  integer, asynchronous :: sent(6), received(10, most)
  integer(kind=MPI_ADDRESS_KIND) :: place(1), zero, extent
  integer :: counts(most), places(most), inner

  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  failures = 0
  zero = 0
  extent = 40
  call MPI_Get_address(sent, place(1), error)
  call MPI_Type_create_hindexed(1, [6], place, MPI_INTEGER, from, error)
  call MPI_Type_commit(from, error)
  call MPI_Get_address(received, place(1), error)
  call MPI_Type_create_hindexed(1, [6], place, MPI_INTEGER, inner, error)
  call MPI_Type_create_resized(inner, zero, extent, to, error)
  call MPI_Type_commit(to, error)
  sent = [(100 * rank + i, i = 1, 6)]
  counts = 1
  places = [(i, i = 0, most - 1)]

  received = -1
  call MPI_Allgather(sent, 6, MPI_INTEGER, MPI_BOTTOM, 1, to, MPI_COMM_WORLD, error)
  call check_all('MPI_Allgather')
  received = -1
  call MPI_Allgather(MPI_BOTTOM, 1, from, MPI_BOTTOM, 1, to, MPI_COMM_WORLD, error)
  call check_all('MPI_Allgather, both sides')
  received = -1
  call MPI_Allgatherv(MPI_BOTTOM, 1, from, MPI_BOTTOM, counts, places, to, MPI_COMM_WORLD, error)
  call check_all('MPI_Allgatherv')
  do root = 0, ranks - 1
    received = -1
    call MPI_Gather(MPI_BOTTOM, 1, from, MPI_BOTTOM, 1, to, root, MPI_COMM_WORLD, error)
    if (rank == root) call check_all('MPI_Gather')
    received = -1
    if (rank == root) received(1:6, 1) = [(7 * root + i, i = 1, 6)]
    call MPI_Bcast(MPI_BOTTOM, 1, to, root, MPI_COMM_WORLD, error)
    if (any(received(1:6, 1) /= [(7 * root + i, i = 1, 6)])) call fail('MPI_Bcast')
  end do

  call MPI_Allreduce(MPI_IN_PLACE, failures, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
  if (rank == 0) print '(a, i0, a)', 'bottom_f90, ', failures, ' failed'
  call MPI_Finalize(error)
  if (failures /= 0) stop 1
contains
  subroutine check_all(call)
    character(len=*), intent(in) :: call
    integer :: who
    do who = 0, ranks - 1
      if (any(received(1:6, who + 1) /= [(100 * who + i, i = 1, 6)]) .or. any(received(7:10, who + 1) /= -1)) &
        call fail(call)
    end do
  end subroutine
  subroutine fail(what)
    character(len=*), intent(in) :: what
    failures = failures + 1
    print '(a, i0, 2a)', 'FAILED rank ', rank, ': ', what
  end subroutine
end program
