import BLEController
import BLEWire
import Testing

/// Core 6.0, Vol 6, Part B, 2.4, 4.5.9 and 5.1.3; Part E.
@Suite("Encrypted traffic")
struct EncryptedTrafficTests {
    typealias Linked = LinkProcedureTests.Linked

    static func octets(_ board: Int, _ number: Int) -> [UInt8] {
        [UInt8](repeating: UInt8(number), count: 20) + [UInt8(board)]
    }

    @Test("Data queued before, during and after encryption starts arrives once and in order", arguments: UInt64(0)..<16)
    func order(seed: UInt64) throws {
        var linked = try Linked(seed: seed, parameters: Bench.parameters(interval: 12, timeout: 600))
        linked.bench.air.conditions.loss = 0.3
        var sent: [[UInt8]] = [[], []]
        func send(_ numbers: Range<Int>, _ linked: inout Linked) {
            for number in numbers {
                for board in [0, 1] {
                    let octets = Self.octets(board, number)
                    sent[board] += octets
                    linked.bench.send(octets, on: linked.handle(board), board)
                }
            }
        }
        send(0..<4, &linked)
        #expect(linked.enableEncryption() == .success)
        send(4..<8, &linked)
        #expect(linked.giveKey(Linked.key) == .success)
        send(8..<12, &linked)
        linked.bench.run(for: .seconds(5))
        send(12..<16, &linked)
        linked.bench.run(for: .seconds(5))
        for board in [0, 1] {
            #expect(linked.encryptionEvents(board) == [linked.encrypted(board)])
            #expect(linked.bench.received(1 - board, linked.handle(1 - board)) == sent[board])
            #expect(linked.bench.completed(board, linked.handle(board)) == 16)
        }
    }

    @Test("Data that waits for encryption is not in flight until the host has given the key")
    func waitingData() throws {
        var linked = try Linked(seed: 1, parameters: Bench.parameters(interval: 12, timeout: 600))
        #expect(linked.enableEncryption() == .success)
        for board in [0, 1] { linked.bench.send(Self.octets(board, 7), on: linked.handle(board), board) }
        var steps = 0
        while steps < 200, linked.bench.air.runNext() != nil { steps += 1 }
        #expect(steps < 200)
        linked.bench.drain()
        #expect(linked.keyRequests.count == 1)
        for board in [0, 1] { #expect(linked.bench.ending(board, linked.handle(board)) == nil) }
        let reply = HCI.LELongTermKeyRequestReply(handle: linked.handle(1), key: Linked.key)
        #expect(linked.bench.ask(.leLongTermKeyRequestReply(reply), 1) == .success)
        while steps < 400, linked.bench.air.runNext() != nil { steps += 1 }
        linked.bench.drain()
        for board in [0, 1] {
            #expect(linked.encryptionEvents(board) == [linked.encrypted(board)])
            #expect(linked.bench.received(1 - board, linked.handle(1 - board)) == Self.octets(board, 7))
        }
    }

    @Test("The key can be refreshed any number of times without losing a packet", arguments: UInt64(0)..<16)
    func refresh(seed: UInt64) throws {
        var linked = try Linked(seed: seed, parameters: Bench.parameters(interval: 12, timeout: 600))
        linked.bench.air.conditions.loss = 0.3
        linked.encrypt()
        var sent: [[UInt8]] = [[], []]
        for number in 0..<3 {
            let key = Key128(wire: UInt128(number))
            for board in [0, 1] {
                sent[board] += Self.octets(board, number)
                linked.bench.send(Self.octets(board, number), on: linked.handle(board), board)
            }
            linked.encrypt(key, answer: key)
        }
        linked.bench.run(for: .seconds(2))
        for board in [0, 1] {
            let refreshed = [HCIEventPacket](repeating: linked.refreshed(board), count: 3)
            #expect(linked.encryptionEvents(board) == [linked.encrypted(board)] + refreshed)
            #expect(linked.bench.received(1 - board, linked.handle(1 - board)) == sent[board])
            #expect(linked.bench.ending(board, linked.handle(board)) == nil)
        }
    }

    @Test("A peripheral that lost its key ends an encrypted link instead of continuing unencrypted")
    func lostKey() throws {
        var linked = try Linked()
        linked.encrypt()
        linked.encrypt(answer: nil)
        #expect(linked.bench.ending(0, linked.handle(0)) == .pinOrKeyMissing)
        #expect(linked.bench.ending(1, linked.handle(1)) == .connectionTerminatedByLocalHost)
    }

    @Test(
        "Nothing is readable on the air, and a retransmitted packet has the same ciphertext",
        arguments: UInt64(0)..<16
    )
    func ciphertext(seed: UInt64) throws {
        var linked = try Linked(seed: seed, parameters: Bench.parameters(interval: 12, timeout: 600))
        linked.encrypt()
        linked.bench.air.conditions.loss = 0.3
        linked.bench.air.recordsAir = true
        for number in 0..<4 {
            for board in [0, 1] {
                linked.bench.send(Self.octets(board, 7), on: linked.handle(board), board)
                linked.bench.send(.readRemoteVersionInformation(.init(handle: linked.handle(board))), board)
            }
            linked.bench.run(for: .seconds(Int64(number)))
        }
        for board in [0, 1] {
            let pdus = linked.bench.records.filter { $0.sender.rawValue == board }.map(\.pdu)
            let carrying = pdus.filter { $0.count > 2 }
            var distinct: [[UInt8]] = []
            for (previous, pdu) in zip([[]] + pdus, pdus) where pdu.count > 2 {
                let isSameNumber = previous.count > 2 && previous[0] & 0x08 == pdu[0] & 0x08
                if isSameNumber { #expect(previous[2...] == pdu[2...]) } else { distinct.append(Array(pdu[2...])) }
            }
            #expect(carrying.allSatisfy { !$0.contains([7, 7, 7, 7]) })
            // Four times the same octets, each time as others, with a code of four octets behind them.
            #expect(distinct.filter { $0.count == 25 }.count >= 4)
            #expect(Set(distinct).count == distinct.count)
            #expect(carrying.allSatisfy { Int($0[1]) == $0.count - 2 })
        }
    }

    @Test("An encrypted packet is four octets longer on the air, and its payload is unchanged")
    func airTime() throws {
        var linked = try Linked()
        for board in [0, 1] {
            linked.bench.send(.leSetDataLength(.init(handle: linked.handle(board), octets: 251, time: 2_120)), board)
        }
        linked.encrypt()
        linked.bench.air.recordsAir = true
        linked.bench.send([UInt8](repeating: 1, count: 251), on: linked.handle(0), 0)
        linked.bench.run(for: .milliseconds(200))
        #expect(linked.bench.fragments[1].last?.octets.count == 251)
        let records = linked.bench.records
        let index = try #require(records.firstIndex { $0.pdu.count == 2 + 255 })
        #expect(records[index + 1].instant - records[index].instant == .microseconds(2_120 + 150))
    }

    @Test("All procedures of both ends complete while keys change", arguments: UInt64(0)..<16)
    func everything(seed: UInt64) throws {
        var linked = try Linked(seed: seed, parameters: Bench.parameters(interval: 12, timeout: 600))
        linked.bench.air.conditions.loss = 0.3
        for round in 0..<3 {
            let before = (linked.bench.said[0].count, linked.bench.said[1].count)
            for end in [1, 0] {
                let handle = linked.handle(end), phys: PHYSet = round == 1 ? .le1M : .le2M
                linked.bench.send(.leSetPHY(.init(handle: handle, transmit: phys, receive: phys)), end)
                linked.bench.send(.leSetDataLength(.init(handle: handle, octets: 200, time: 2_120)), end)
                if end == 0 { #expect(linked.enableEncryption() == .success) }
                linked.bench.send(.leReadRemoteFeatures(.init(handle: handle)), end)
                linked.bench.send(.readRemoteVersionInformation(.init(handle: handle)), end)
                let parameters = Bench.parameters(interval: UInt16(end == 0 ? 40 : 56 + round), timeout: 600)
                linked.bench.send(.leConnectionUpdate(.init(handle: handle, parameters: parameters)), end)
                linked.bench.send(Self.octets(end, round), on: handle, end)
            }
            #expect(linked.giveKey(Linked.key) == .success)
            linked.bench.run(for: .seconds(20))
            for (end, count) in [(0, before.0), (1, before.1)] {
                let events = linked.bench.said[end].dropFirst(count).map(\.event)
                #expect(linked.bench.ending(end, linked.handle(end)) == nil)
                for subevent: HCI.LESubevent in [
                    .phyUpdateComplete, .readRemoteFeaturesComplete, .connectionUpdateComplete,
                ] {
                    #expect(events.contains { $0.subevent == subevent }, "board \(end): no \(subevent)")
                }
                #expect(events.contains { $0.code == .readRemoteVersionInformationComplete })
                #expect(events.contains(round == 0 ? linked.encrypted(end) : linked.refreshed(end)))
            }
        }
        for end in [0, 1] {
            let sent = (0..<3).flatMap { Self.octets(end, $0) }
            #expect(linked.bench.received(1 - end, linked.handle(1 - end)) == sent)
        }
    }

    /// A link that is encrypted, and whose hosts would hear of it if nothing authentic came for two seconds.
    func watched() throws -> Linked {
        var linked = try Linked(parameters: Bench.parameters(interval: 24, latency: 3, timeout: 1_000))
        linked.encrypt()
        for board in [0, 1] {
            let timeout = AuthenticatedPayloadTimeout(wire: 200) ?? .standard
            let command = HCI.WriteAuthenticatedPayloadTimeout(handle: linked.handle(board), timeout: timeout)
            #expect(linked.bench.ask(.writeAuthenticatedPayloadTimeout(command), board) == .success)
        }
        linked.bench.said = [[], []]
        return linked
    }

    @Test("An idle link is pinged to check that it is still authenticated")
    func ping() throws {
        var linked = try watched()
        linked.bench.run(for: .seconds(60))
        for board in [0, 1] { #expect(linked.bench.events(board) == []) }
    }

    @Test(
        "The host receives an event each time no authenticated packet has arrived for the timeout it set",
        arguments: [0, 1]
    )
    func expiry(board: Int) throws {
        var linked = try watched()
        linked.bench.air.partition = [ControllerPair(ControllerID(rawValue: 0), ControllerID(rawValue: 1))]
        linked.bench.run(for: .milliseconds(6_500))
        let expired = HCIEventPacket.authenticatedPayloadTimeoutExpired(.init(handle: linked.handle(board)))
        #expect(linked.bench.events(board) == [expired, expired, expired])
        linked.bench.air.partition = []
        linked.bench.run(for: .seconds(30))
        #expect(linked.bench.events(board) == [expired, expired, expired])
    }
}
