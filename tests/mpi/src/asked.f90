! A message that was sent before a barrier is seen by the first test or probe behind it, through "use mpi".
program asked
  use mpi
  implicit none
  integer, parameter :: rounds = 100
  integer :: rank, failed, error, round, request, window, group, received, one
  integer :: status(MPI_STATUS_SIZE), handle, origin, target_, memory(4)
  integer(kind=MPI_ADDRESS_KIND) :: bytes, place
  logical :: seen(4)
  integer :: missed(4)

  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  bytes = 16
  place = 0
  call MPI_Win_create(memory, bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, window, error)
  call MPI_Comm_group(MPI_COMM_WORLD, group, error)
  call MPI_Group_incl(group, 1, [0], origin, error)
  call MPI_Group_incl(group, 1, [1], target_, error)
  missed = 0
  one = 1
  do round = 1, rounds
    seen = .true.
    if (rank == 1) then
      call MPI_Irecv(received, 1, MPI_INTEGER, 0, 3, MPI_COMM_WORLD, request, error)
      call MPI_Win_post(origin, 0, window, error)
    end if
    call MPI_Barrier(MPI_COMM_WORLD, error)
    if (rank == 0) call MPI_Send(one, 1, MPI_INTEGER, 1, 1, MPI_COMM_WORLD, error)
    call MPI_Barrier(MPI_COMM_WORLD, error)
    if (rank == 1) call MPI_Iprobe(0, 1, MPI_COMM_WORLD, seen(1), status, error)
    call MPI_Barrier(MPI_COMM_WORLD, error)
    if (rank == 0) call MPI_Send(one, 1, MPI_INTEGER, 1, 2, MPI_COMM_WORLD, error)
    call MPI_Barrier(MPI_COMM_WORLD, error)
    if (rank == 1) then
      call MPI_Improbe(0, 2, MPI_COMM_WORLD, seen(2), handle, status, error)
      if (seen(2)) then
        call MPI_Mrecv(received, 1, MPI_INTEGER, handle, status, error)
      else
        call MPI_Recv(received, 1, MPI_INTEGER, 0, 2, MPI_COMM_WORLD, status, error)
      end if
    end if
    call MPI_Barrier(MPI_COMM_WORLD, error)
    if (rank == 0) call MPI_Send(one, 1, MPI_INTEGER, 1, 3, MPI_COMM_WORLD, error)
    call MPI_Barrier(MPI_COMM_WORLD, error)
    if (rank == 1) then
      call MPI_Test(request, seen(3), status, error)
      if (.not. seen(3)) call MPI_Wait(request, status, error)
      call MPI_Recv(received, 1, MPI_INTEGER, 0, 1, MPI_COMM_WORLD, status, error)
    end if
    if (rank == 0) then
      call MPI_Win_start(target_, 0, window, error)
      call MPI_Put(one, 1, MPI_INTEGER, 1, place, 1, MPI_INTEGER, window, error)
      call MPI_Win_complete(window, error)
    end if
    call MPI_Barrier(MPI_COMM_WORLD, error)
    if (rank == 1) then
      call MPI_Win_test(window, seen(4), error)
      if (.not. seen(4)) call MPI_Win_wait(window, error)
      where (.not. seen) missed = missed + 1
    end if
    call MPI_Barrier(MPI_COMM_WORLD, error)
  end do
  failed = count(missed > rounds / 100)
  if (rank == 1) print '(a, 4(1x, i0))', "missed:", missed
  call MPI_Group_free(group, error)
  call MPI_Group_free(origin, error)
  call MPI_Group_free(target_, error)
  call MPI_Win_free(window, error)
  if (rank == 1) print '(a, i0, a)', "asked: ", failed, " failed"
  call MPI_Finalize(error)
end program
