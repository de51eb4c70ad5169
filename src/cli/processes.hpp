// The processes that mpirun started.
#pragma once

#include <memory>

#include <hornbill/elim/dpop.hpp>

namespace hornbill::cli {

/// How they exchange messages; this process alone where mpirun did not start several.
/// \throws InputError where it did and the build has no MPI
std::unique_ptr<elim::Messenger> join_processes();

/// Threads that each process may use where several share a computer and nobody has said; else 0, which leaves it to
/// Kokkos.
int threads_of_process();

/// To be called when a process fails that has joined others: they must not wait for it.
void fail_processes();

/// At the end of the program, whatever happened.   \return exit code
int leave_processes(int exit_code);

}  // namespace hornbill::cli
