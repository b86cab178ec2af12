import Testing

@testable import BLEHost

@Suite("Host limits")
struct LimitsTests {
    @Test(
        "More memory raises only the number of remembered advertisers, up to a limit",
        arguments: [(0, 32_768), (512 << 20, 32_768), (1 << 30, 65_536), (4 << 30, 262_144), (Int.max, 262_144)]
    )
    func memory(octets: Int, advertisers: Int) {
        var limits = Limits(memory: octets)
        #expect(limits.advertisers == advertisers)
        limits.advertisers = Limits().advertisers
        #expect(limits == Limits())
    }
}
