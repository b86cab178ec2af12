import Glibc
import Testing

@testable import BLERuntime

@Suite("File descriptor limit")
struct DescriptorLimitTests {
    @Test("Too few file descriptors are reported with the remedy", arguments: [8, 31, 32, 1_024] as [UInt64])
    func problem(limit: UInt64) {
        let sentence = DescriptorLimit.problem(limit: limit)
        #expect((sentence == nil) == (limit >= 32))
        if let sentence { #expect(sentence.contains("\(limit) files") && sentence.contains("LimitNOFILE")) }
    }

    @Test("A limit that can be raised is raised, and one that cannot is a problem")
    func raise() async {
        await #expect(processExitsWith: .success) {
            let kind = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
            setrlimit(kind, [rlimit(rlim_cur: 40, rlim_max: 100)])
            var limit = rlimit()
            try #require(DescriptorLimit.raise(to: 64) == nil)
            getrlimit(kind, &limit)
            try #require(limit.rlim_cur == 64)
            try #require(DescriptorLimit.raise(to: 1_000) == nil)
            getrlimit(kind, &limit)
            try #require(limit.rlim_cur == 100)
        }
    }

    @Test("A loop without a wake-up descriptor polls for work")
    func loop() async {
        await #expect(processExitsWith: .success) {
            try withoutFreeDescriptors {
                let inbox = LoopInbox()
                try #require(inbox.wakeDescriptor.raw < 0 && inbox.longestWait != nil)
            }
            try #require(LoopInbox().longestWait == nil)
        }
    }
}
