import Testing

@testable import BLEHost

@Suite("Limits of a host")
struct LimitsTests {
    @Test(
        "More memory keeps more of those that are seen on the air, up to a limit, and nothing else",
        arguments: [(0, 32_768), (512 << 20, 32_768), (1 << 30, 65_536), (4 << 30, 262_144), (Int.max, 262_144)]
    )
    func memory(octets: Int, advertisers: Int) {
        var limits = Limits(memory: octets)
        #expect(limits.advertisers == advertisers)
        limits.advertisers = Limits().advertisers
        #expect(limits == Limits())
    }
}
