! Persistent collectives through "use mpi_f08", completed in every way, among persistent messages; without the optional
! error argument at times.
! "-testall" leaves a way out, for hosts that have it wrong.
program persistent
  use mpi_f08
  implicit none
  integer, parameter :: many = 2000, made = 5, ways = 8, rounds = 3
  character(len=8), parameter :: names(ways) = [character(len=8) :: "wait", "waitall", "waitany", "waitsome", "test", &
                                                "testall", "testany", "testsome"]
  integer, asynchronous :: numbers(many), sums(many), cast(many), left_hand(2), right_hand(2)
  type(MPI_Request) :: requests(made)
  integer :: rank, ranks, way, round, i, failed, all_failed, error
  logical :: flag

  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  failed = 0

  call MPI_Allreduce_init(numbers, sums, many, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, requests(1), error)
  call MPI_Bcast_init(cast, many, MPI_INTEGER, ranks - 1, MPI_COMM_WORLD, MPI_INFO_NULL, requests(2), error)
  call MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, requests(3))
  call MPI_Recv_init(left_hand, 2, MPI_INTEGER, modulo(rank - 1, ranks), 1, MPI_COMM_WORLD, requests(4), error)
  call MPI_Send_init(right_hand, 2, MPI_INTEGER, modulo(rank + 1, ranks), 1, MPI_COMM_WORLD, requests(5), error)

  do way = 1, ways
    if (left_out(names(way))) cycle
    do round = 1, rounds
      numbers = [(i + rank + round, i = 1, many)]
      sums = -1
      cast = -1
      if (rank == ranks - 1) cast = [(i * round, i = 1, many)]
      right_hand = [rank, round]
      left_hand = -1
      if (modulo(round, 2) == 0) then
        call MPI_Startall(made, requests, error)
      else
        do i = 1, made
          call MPI_Start(requests(i))
        end do
      end if
      call complete(names(way))
      call expect(all(sums == [(ranks * (i + round) + ranks * (ranks - 1) / 2, i = 1, many)]), "allreduce_init")
      call expect(all(cast == [(i * round, i = 1, many)]), "bcast_init")
      call expect(all(left_hand == [modulo(rank - 1, ranks), round]), "recv_init")
      call expect(all(is_there(requests)), "requests stay")
    end do
  end do

  call MPI_Start(requests(3), error)
  flag = .false.
  do while (.not. flag)
    call MPI_Request_get_status(requests(3), flag, MPI_STATUS_IGNORE)
  end do
  call MPI_Wait(requests(3), MPI_STATUS_IGNORE, error)
  call MPI_Wait(requests(3), MPI_STATUS_IGNORE, error) ! not started: returns at once
  call check_in_place()
  do i = 1, made
    call MPI_Request_free(requests(i))
  end do
  call expect(.not. any(is_there(requests)), "freed requests are null")

  call MPI_Reduce(failed, all_failed, 1, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD, error)
  if (rank == 0) print '(a, i0, a)', "persistent_f08.f90: ", all_failed, " failed"
  call MPI_Finalize(error)
  if (failed > 0) stop 1
contains
  elemental logical function is_there(request)
    type(MPI_Request), intent(in) :: request
    is_there = request%MPI_VAL /= MPI_REQUEST_NULL%MPI_VAL
  end function

  subroutine complete(how)
    character(len=*), intent(in) :: how
    type(MPI_Status) :: status, statuses(made)
    integer :: indices(made), done(made), index, out, k
    logical :: ready

    done = 0
    select case (how)
    case ("wait")
      do k = 1, made
        call MPI_Wait(requests(k), status, error)
        if (k == 4) call expect(status%MPI_SOURCE == modulo(rank - 1, ranks), "status of wait")
      end do
      done = 1
    case ("waitall")
      call MPI_Waitall(made, requests, statuses)
      call expect(statuses(4)%MPI_SOURCE == modulo(rank - 1, ranks), "status of waitall")
      done = 1
    case ("test")
      do k = 1, made
        ready = .false.
        do while (.not. ready)
          call MPI_Test(requests(k), ready, MPI_STATUS_IGNORE)
        end do
      end do
      done = 1
    case ("testall")
      ready = .false.
      do while (.not. ready)
        call MPI_Testall(made, requests, ready, MPI_STATUSES_IGNORE, error)
      end do
      done = 1
    case ("waitany", "testany")
      do
        ready = .true.
        if (how == "waitany") call MPI_Waitany(3, requests, index, status)
        if (how == "testany") call MPI_Testany(3, requests, index, ready, status)
        if (.not. ready) cycle
        if (index == MPI_UNDEFINED) exit
        done(index) = done(index) + 1 ! from 1
      end do
      call wait_for_messages(done)
    case ("waitsome", "testsome")
      do
        if (how == "waitsome") call MPI_Waitsome(3, requests, out, indices, statuses)
        if (how == "testsome") call MPI_Testsome(3, requests, out, indices, statuses, error)
        if (out == MPI_UNDEFINED) exit
        do k = 1, out
          done(indices(k)) = done(indices(k)) + 1
        end do
      end do
      call wait_for_messages(done)
    end select
    call expect(all(done == 1), how // " completes each once")
  end subroutine

  ! Not among the others: MPICH 4.0.2 counts from 0 where it says which messages are complete.
  subroutine wait_for_messages(done)
    integer, intent(inout) :: done(made)

    call MPI_Waitall(2, requests(4:5), MPI_STATUSES_IGNORE, error)
    done(4:5) = 1
  end subroutine

  ! MPI_IN_PLACE is Fortran's own.
  subroutine check_in_place()
    type(MPI_Request) :: one

    call MPI_Allreduce_init(MPI_IN_PLACE, sums, many, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD, MPI_INFO_NULL, one, error)
    sums = [(i + rank, i = 1, many)]
    call MPI_Start(one, error)
    call MPI_Wait(one, MPI_STATUS_IGNORE)
    call expect(all(sums == [(i + ranks - 1, i = 1, many)]), "allreduce_init in place")
    call MPI_Request_free(one, error)
  end subroutine

  logical function left_out(name)
    character(len=*), intent(in) :: name
    character(len=20) :: argument
    integer :: k

    left_out = .false.
    do k = 1, command_argument_count()
      call get_command_argument(k, argument)
      left_out = left_out .or. argument == "-" // name
    end do
  end function

  subroutine expect(right, what)
    logical, intent(in) :: right
    character(len=*), intent(in) :: what

    if (right) return
    failed = failed + 1
    print '(3a, i0)', "FAILED ", what, " on rank ", rank
  end subroutine
end program
