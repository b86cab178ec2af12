import Glibc
import Testing

/// Runs `body` while the process cannot open files, and restores the limit afterwards.
///
/// The limit is below all free numbers, so that the descriptors which other threads close meanwhile stay unusable, too:
/// the system's libraries read files of /proc in threads of their own. Only for exit tests.
func withoutFreeDescriptors(_ body: () throws -> Void) throws {
    let kind = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    while case let raw = open("/dev/null", O_RDONLY), raw < 3 { try #require(raw >= 0) }
    var former = rlimit()
    getrlimit(kind, &former)
    setrlimit(kind, [rlimit(rlim_cur: 3, rlim_max: former.rlim_max)])
    defer { setrlimit(kind, &former) }
    try body()
}
