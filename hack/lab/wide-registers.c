/*
 * Lets user-mode Linux 6.1 run on processors whose vector registers need more room than it has, those with AMX.
 *
 * It reads and writes the registers of its processes with ptrace(PTRACE_GETREGSET / PTRACE_SETREGSET, NT_X86_XSTATE) and
 * a buffer large enough for AVX-512. The host cuts a short read, but refuses a short write, and user-mode Linux dies in
 * its first process. This library, preloaded, takes the place of ptrace: it does both with a buffer that is large enough,
 * hands on the part that user-mode Linux knows, and leaves the rest (AMX tiles, which its processes cannot ask for) in
 * its initial state. One processor, one thread: the buffer may be static.
 */
#include <elf.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define COMPONENTS_IN_USE 512  /* where in the area the bit map of the components in use stands */
#define KNOWN_COMPONENTS 0x3ffULL /* x87, SSE, AVX, AVX-512, protection keys: all that lie in the known part */

static unsigned char area[65536] __attribute__((aligned(64)));
static size_t area_size;

static long call(long request, long pid, void *address, void *data) {
  return syscall(SYS_ptrace, request, pid, address, data);
}

static void keep_known_components(void) {
  uint64_t components;
  memcpy(&components, area + COMPONENTS_IN_USE, sizeof components);
  components &= KNOWN_COMPONENTS;
  memcpy(area + COMPONENTS_IN_USE, &components, sizeof components);
}

static long read_whole(long pid) {
  struct iovec whole = {area, sizeof area};
  long result = call(PTRACE_GETREGSET, pid, (void *)NT_X86_XSTATE, &whole);
  if (result == 0) area_size = whole.iov_len;
  return result;
}

static long get_registers(long pid, struct iovec *wanted) {
  long result = read_whole(pid);
  if (result != 0) return result;
  keep_known_components();
  if (wanted->iov_len > area_size) wanted->iov_len = area_size;
  memcpy(wanted->iov_base, area, wanted->iov_len);
  return 0;
}

static long set_registers(long pid, struct iovec *given) {
  if (area_size == 0 && read_whole(pid) != 0) return -1;
  if (given->iov_len >= area_size) return call(PTRACE_SETREGSET, pid, (void *)NT_X86_XSTATE, given);
  memcpy(area, given->iov_base, given->iov_len);
  memset(area + given->iov_len, 0, area_size - given->iov_len);
  keep_known_components();
  struct iovec whole = {area, area_size};
  return call(PTRACE_SETREGSET, pid, (void *)NT_X86_XSTATE, &whole);
}

long ptrace(enum __ptrace_request request, ...) {
  va_list arguments;
  va_start(arguments, request);
  long pid = va_arg(arguments, pid_t);
  void *address = va_arg(arguments, void *);
  void *data = va_arg(arguments, void *);
  va_end(arguments);

  if ((long)address == NT_X86_XSTATE && request == PTRACE_GETREGSET) return get_registers(pid, data);
  if ((long)address == NT_X86_XSTATE && request == PTRACE_SETREGSET) return set_registers(pid, data);
  if (request != PTRACE_PEEKTEXT && request != PTRACE_PEEKDATA && request != PTRACE_PEEKUSER)
    return call(request, pid, address, data);
  long word = 0;
  return call(request, pid, address, &word) < 0 ? -1 : word;
}
