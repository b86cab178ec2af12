import BLEWire
import Testing

@testable import BLEHost

@Suite("The short connection interval of a new link")
struct FastStartTests {
    private func at(_ milliseconds: Int) -> Instant { Instant() + .milliseconds(milliseconds) }

    @Test("The short interval ends one second after the last request, and not a nanosecond earlier")
    func idle() {
        var start = FastStart()
        start.begin(at: at(0))
        #expect(start.check(quietSince: at(400), at: at(1_000)) == .wait)
        #expect(start.deadline == at(1_400))
        #expect(start.check(quietSince: at(400), at: at(1_400) + .nanoseconds(-1)) == .wait)
        #expect(start.check(quietSince: at(400), at: at(1_400)) == .lengthen)
        #expect(start.deadline == nil && !start.isUnderWay)
        #expect(start.check(quietSince: at(400), at: at(1_500)) == .wait)
    }

    @Test("The short interval ends after five seconds, although clients keep making requests")
    func busy() {
        var start = FastStart()
        start.begin(at: at(0))
        for second in 1..<5 {
            #expect(start.check(quietSince: nil, at: at(second * 1_000)) == .wait)
            #expect(start.deadline == at(second * 1_000 + 1_000))
        }
        #expect(start.check(quietSince: nil, at: at(5_000)) == .lengthen)
    }

    @Test("Other connection parameters are not replaced")
    func stopped() {
        var start = FastStart()
        start.begin(at: at(0))
        start.stop()
        #expect(start.deadline == nil)
        #expect(start.check(quietSince: at(0), at: at(9_000)) == .wait)
    }
}

@Suite("The connection intervals that a controller is asked for")
struct RequestedIntervalTests {
    private let connecting = ConnectingTests()

    /// The longest connection interval of each attempt.
    private func intervals(_ rig: Rig) -> [Duration] {
        rig.commands.compactMap { command in
            if case .leCreateConnection(let create) = command { create.parameters.maximum.duration } else { nil }
        }
    }

    @Test("A controller that rejects the short interval is asked for the usual one, and the app is not told")
    func rejectedShortInterval() {
        let rig = connecting.makeRig(), peer = rig.discover(connecting.address)
        rig.controller.leastInterval = .milliseconds(15)
        rig.perform(.connect(peer, ConnectRequest()))
        #expect(intervals(rig) == [.microseconds(7_500), .milliseconds(30)])
        rig.connect(connecting.address)
        #expect(connecting.connections(rig) == [.connected(peer, LinkParameters(mtu: 185))])
    }

    @Test("A controller that rejects both intervals refuses the connection")
    func rejectedConnection() {
        let rig = connecting.makeRig(), peer = rig.discover(connecting.address)
        rig.controller.refused[HCI.Opcode.leCreateConnection.wire] = .connectionLimitExceeded
        rig.perform(.connect(peer, ConnectRequest()))
        rig.advance(by: .seconds(1))
        #expect(intervals(rig) == [.microseconds(7_500), .milliseconds(30)])
        #expect(connecting.connections(rig) == [.connectFailed(peer, .limitReached)])
    }

    @Test("No more than four links use the short interval at a time")
    func fewShortIntervals() {
        let rig = connecting.makeRig()
        for number in 0..<5 {
            let address = DeviceAddress(0xC000_0000_0000 + UInt64(number), .random)
            rig.perform(.connect(rig.discover(address), ConnectRequest()))
            rig.connect(address, 0x40 + UInt16(number), interval: 6)
        }
        #expect(intervals(rig) == Array(repeating: .microseconds(7_500), count: 4) + [.milliseconds(30)])
    }
}
