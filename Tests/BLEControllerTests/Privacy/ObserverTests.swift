import BLEController
import BLECrypto
import BLEWire
import Testing

/// Core 6.0, Vol 6, Part B, 6.
@Suite("What an observer learns about private devices")
struct ObserverTests {
    @Test(
        "Bonded devices never reveal their identity while they scan, advertise and connect again and again",
        arguments: UInt64(0)..<16,
        Form.allCases
    )
    func privacy(seed: UInt64, form: Form) throws {
        let own: HCI.OwnAddress = seed % 2 == 0 ? .resolvableOrPublic : .resolvableOrRandom
        var bench = Bench(seed: seed, loss: 0.1)
        let central = bench.addPrivate(), peripheral = bench.addPrivate()
        bench.befriend(central, peripheral, as: own)
        let timeout = try #require(PrivateAddressTimeout(wire: 2))
        for board in [central, peripheral] {
            bench.send(.leSetResolvablePrivateAddressTimeout(.init(timeout: timeout)), board)
        }
        bench.air.recordsAir = true
        for turn in 1...4 {
            let isDirected = turn % 2 == 0
            bench.announce(
                form,
                peripheral,
                own: own,
                peer: Bench.identity(central, own),
                isDirected: isDirected
            )
            bench.listen(form, central, type: .active, own: own)
            bench.run(for: .milliseconds(1_500))
            // A request to connect that is lost would leave the central alone.
            bench.air.conditions.loss = 0
            bench.seek(form, central, Bench.identity(peripheral, own), own: own)
            let end = bench.now + .seconds(10)
            while bench.now < end, bench.connections(central).count < turn || bench.connections(peripheral).count < turn
            {
                bench.run(for: .milliseconds(10))
            }
            bench.air.conditions.loss = 0.1
            let event = try #require(bench.connections(central).last)
            #expect(bench.connections(central).count == turn && bench.connections(peripheral).count == turn)
            bench.send(.disconnect(.init(handle: event.handle, reason: .remoteUserTerminatedConnection)), central)
            bench.run(for: .seconds(2))
            let off: HCICommandPacket =
                form == .legacy
                ? .leSetScanEnable(.init(enable: false)) : .leSetExtendedScanEnable(.init(enable: false))
            #expect(bench.ask(off, central) == .success)
        }
        var kinds: Set<Int> = []
        for record in bench.records where record.accessAddress == LL.advertisingAccessAddress {
            kinds.insert(Int(record.pdu[0] & 0x0F))
            for board in [central, peripheral] {
                for identity in [Bench.address(board), Bench.identity(board, .random)] {
                    let octets = Array(identity.value.littleEndianOctets.prefix(6))
                    let shows = record.pdu.indices.contains { Array(record.pdu[$0...].prefix(6)) == octets }
                    #expect(!shows, "\(record.pdu.hexadecimal)")
                }
            }
        }
        // Requests to connect, and to scan where there is something to ask for.
        #expect(kinds.isSuperset(of: form == .legacy ? [0, 1, 3, 4, 5] : [5, 7, 8]))
        for (board, other) in [(central, peripheral), (peripheral, central)] {
            let sent = bench.sent(board)
            #expect(sent.allSatisfy { RandomAddress.isMade($0.own, with: Bench.key(board)) })
            let called = sent.compactMap(\.other)
            #expect(called.allSatisfy { RandomAddress.isMade($0, with: Bench.key(other)) })
            #expect(Set(sent.map(\.own)).count > 2)
        }
    }
}
