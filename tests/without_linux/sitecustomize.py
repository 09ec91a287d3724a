"""Hides from a Python, before anything else runs in it, what the system and the C library have on Linux alone.

Python imports a module of this name at its start, from the folder that PYTHONPATH names. What is hidden cannot be used
by mistake: `select.epoll` is an AttributeError then, and ``/proc`` is a folder without files. `hasattr` says no.
"""

from __future__ import annotations

import sys

from_linux = {
    "select": "epoll POLLRDHUP EPOLLIN EPOLLOUT EPOLLERR EPOLLHUP EPOLLRDHUP EPOLLET EPOLLEXCLUSIVE EPOLLONESHOT",
    # macOS has SO_REUSEPORT, but gives all connections to one socket; and MSG_DONTWAIT, but ignores it in `send`.
    "socket": "SO_REUSEPORT MSG_DONTWAIT MSG_NOSIGNAL MSG_MORE MSG_ERRQUEUE MSG_FASTOPEN MSG_CMSG_CLOEXEC "
    "SOCK_NONBLOCK SOCK_CLOEXEC TCP_KEEPIDLE TCP_USER_TIMEOUT TCP_CORK TCP_QUICKACK TCP_DEFER_ACCEPT TCP_INFO "
    "TCP_LINGER2 TCP_SYNCNT SO_PEERCRED SO_PASSCRED SO_BINDTODEVICE SO_DOMAIN SO_PROTOCOL SO_INCOMING_CPU SO_MARK "
    "SO_PRIORITY AF_NETLINK AF_PACKET AF_VSOCK IP_BIND_ADDRESS_NO_PORT IPPROTO_MPTCP",
    # macOS has a sendfile that takes its arguments in another way.
    "os": "sendfile splice copy_file_range memfd_create eventfd eventfd_read eventfd_write timerfd_create pidfd_open "
    "pipe2 fdatasync posix_fadvise posix_fallocate getrandom getxattr setxattr listxattr removexattr getresuid "
    "getresgid sched_getaffinity sched_setaffinity sched_getscheduler sched_setscheduler sched_getparam setns unshare "
    "O_PATH O_TMPFILE O_DIRECT O_LARGEFILE O_NOATIME O_RSYNC P_PIDFD",
    "signal": "pidfd_send_signal sigtimedwait sigwaitinfo SIGRTMIN SIGRTMAX SIGPWR SIGPOLL SIGCLD SIGSTKFLT",
    "resource": "prlimit RUSAGE_THREAD RLIMIT_OFILE RLIMIT_NICE RLIMIT_SIGPENDING RLIMIT_MSGQUEUE RLIMIT_RTPRIO",
    "fcntl": "F_SETPIPE_SZ F_GETPIPE_SZ F_ADD_SEALS F_GET_SEALS F_NOTIFY",
    "time": "CLOCK_BOOTTIME CLOCK_TAI pthread_getcpuclockid",
}
"""The names of each module. `select` is first: other modules look at it when they are imported."""

from_glibc = (
    "malloc_trim mallinfo mallopt gettid prctl syscall timerfd_create eventfd epoll_create1 inotify_init1 memfd_create "
    "sendfile splice renameat2 sched_getaffinity posix_fadvise accept4 pipe2"
)
linux_folders = ("/proc/", "/dev/shm/", "/sys/")  # noqa: S108
usual_files, most_files = 256, 10_240


def hide_names():
    for module, names in from_linux.items():
        for name in names.split():
            vars(__import__(module)).pop(name, None)


def hide_functions_of_c():
    import ctypes

    get = ctypes.CDLL.__getattr__

    def get_if_others_have_it(library, name):
        if name in from_glibc.split():
            raise AttributeError(name)
        return get(library, name)

    ctypes.CDLL.__getattr__ = get_if_others_have_it


def hide_files():
    def refuse(event, arguments):
        if event in {"open", "os.listdir", "os.scandir"} and isinstance(arguments[0], (str, bytes)):
            path = arguments[0] if isinstance(arguments[0], str) else arguments[0].decode(errors="replace")
            if f"{path}/".startswith(linux_folders):
                raise FileNotFoundError(2, "No such file or directory", path)

    sys.addaudithook(refuse)


def limit_files():
    """As macOS: 256 files at first, no limit as it seems, and an error for more than it allows."""
    import resource

    get, change, kind = resource.getrlimit, resource.setrlimit, resource.RLIMIT_NOFILE
    hard = get(kind)[1]
    change(kind, (usual_files, hard))

    def shown(asked):
        return (get(asked)[0], resource.RLIM_INFINITY) if asked == kind else get(asked)

    def changed(asked, limits):
        if asked == kind:
            if limits[0] > most_files:
                raise ValueError("current limit exceeds maximum limit")
            limits = (limits[0], hard)
        change(asked, limits)

    resource.getrlimit, resource.setrlimit = shown, changed


if __name__ == "sitecustomize":  # pytest imports every module under its own name, and needs all that is here
    hide_names()
    hide_functions_of_c()
    hide_files()
    limit_files()
