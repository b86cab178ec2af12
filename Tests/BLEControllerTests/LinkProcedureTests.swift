import BLEController
import BLEWire
import Testing

/// Core 6.0, Vol 6, Part B, 5.1.
@Suite("Link layer procedures")
struct LinkProcedureTests {
    /// Two boards, connected.
    struct Linked: ~Copyable {
        var bench: Bench
        let pair: Bench.Pair
        let central = 0
        let peripheral = 1

        init(
            seed: UInt64 = 1,
            _ profile: ControllerIdentity.Profile = .core5,
            _ other: ControllerIdentity.Profile = .core5,
            parameters: HCI.ConnectionParameters = Bench.parameters()
        ) throws {
            bench = Bench(seed: seed)
            bench.add(profile)
            bench.add(other)
            let pair = bench.connect(0, 1, parameters: parameters)
            self.pair = try #require(pair)
            bench.run(for: .seconds(1))
            bench.said = [[], []]
        }

        func handle(_ board: Int) -> ConnectionHandle { board == central ? pair.central : pair.peripheral }
    }

    @Test("Either end can learn the other's version", arguments: [0, 1])
    func version(board: Int) throws {
        var linked = try Linked()
        let handle = linked.handle(board)
        for _ in 0..<2 {
            linked.bench.send(.readRemoteVersionInformation(.init(handle: handle)), board)
            #expect(linked.bench.lastStatus(board) == .success)
            linked.bench.run(for: .milliseconds(300))
        }
        let expected = HCIEventPacket.readRemoteVersionInformationComplete(
            .init(status: .success, handle: handle, version: .v5_3, company: 0xFFFF, subversion: 1)
        )
        #expect(linked.bench.events(board) == [expected, expected])
    }

    @Test("Either end can learn the other's features", arguments: [0, 1])
    func features(board: Int) throws {
        var linked = try Linked()
        linked.bench.send(.leReadRemoteFeatures(.init(handle: linked.handle(board))), board)
        linked.bench.run(for: .milliseconds(300))
        let expected = HCI.LEReadRemoteFeaturesComplete(
            status: .success,
            handle: linked.handle(board),
            features: ControllerIdentity.Profile.core5.features
        )
        #expect(linked.bench.events(board) == [.leReadRemoteFeaturesComplete(expected)])
    }

    @Test("A procedure that the peer does not support fails with unsupported remote feature")
    func unknown() throws {
        var linked = try Linked(.legacyOnly, .core5)
        let handle = linked.handle(1)
        linked.bench.send(.leReadRemoteFeatures(.init(handle: handle)), 1)
        linked.bench.send(.leSetPHY(.init(handle: handle, transmit: .le2M, receive: .le2M)), 1)
        linked.bench.send(.leConnectionUpdate(.init(handle: handle, parameters: Bench.parameters(interval: 40))), 1)
        linked.bench.send(.leSetDataLength(.init(handle: handle, octets: 251, time: 2_120)), 1)
        linked.bench.run(for: .seconds(2))
        let statuses = linked.bench.events(1).map { event -> HCI.Status? in
            switch event {
            case .leReadRemoteFeaturesComplete(let event): event.status
            case .lePHYUpdateComplete(let event): event.status
            case .leConnectionUpdateComplete(let event): event.status
            default: nil
            }
        }
        #expect(statuses == [.unsupportedRemoteFeature, .unsupportedRemoteFeature, .unsupportedRemoteFeature])
        #expect(linked.bench.ending(1, handle) == nil)
    }

    @Test("A longer packet length is negotiated, reported to both hosts, and carries long fragments whole")
    func length() throws {
        var linked = try Linked()
        linked.bench.send(.leSetDataLength(.init(handle: linked.handle(0), octets: 251, time: 2_120)), 0)
        linked.bench.run(for: .milliseconds(300))
        let (own, other) = (linked.bench.events(0), linked.bench.events(1))
        #expect(
            own == [
                .leDataLengthChange(
                    .init(
                        handle: linked.handle(0),
                        transmitOctets: 251,
                        transmitTime: 2_120,
                        receiveOctets: 27,
                        receiveTime: 328
                    )
                )
            ]
        )
        #expect(
            other == [
                .leDataLengthChange(
                    .init(
                        handle: linked.handle(1),
                        transmitOctets: 27,
                        transmitTime: 328,
                        receiveOctets: 251,
                        receiveTime: 2_120
                    )
                )
            ]
        )
        let octets = (0..<251).map { UInt8($0) }
        linked.bench.send(octets, on: linked.handle(0), 0)
        linked.bench.send(octets, on: linked.handle(1), 1)
        linked.bench.run(for: .milliseconds(300))
        #expect(linked.bench.fragments[1].map(\.octets.count) == [251])
        #expect(linked.bench.fragments[0].map(\.octets.count) == [27, 27, 27, 27, 27, 27, 27, 27, 27, 8])
        #expect(linked.bench.fragments[0].map(\.isStart) == [true] + [Bool](repeating: false, count: 9))
        #expect(linked.bench.received(0, linked.handle(0)) == octets)
    }

    @Test("A controller whose host suggests long packets negotiates them by itself")
    func suggestedLength() throws {
        var bench = Bench()
        bench.add()
        bench.add()
        bench.send(.leWriteSuggestedDefaultDataLength(.init(octets: 251, time: 17_040)), 0)
        bench.send(.leWriteSuggestedDefaultDataLength(.init(octets: 251, time: 17_040)), 1)
        let pair = bench.connect(0, 1)
        let handles = try #require(pair)
        bench.run(for: .seconds(1))
        for (board, handle) in [(0, handles.central), (1, handles.peripheral)] {
            let change = bench.events(board).last { if case .leDataLengthChange = $0 { true } else { false } }
            guard case .leDataLengthChange(let event)? = change else {
                Issue.record("board \(board) heard of no change")
                continue
            }
            #expect(event.handle == handle && event.transmitOctets == 251 && event.receiveOctets == 251)
        }
    }

    @Test("Either end can negotiate a faster PHY, and both hosts receive the event", arguments: [0, 1])
    func phy(board: Int) throws {
        var linked = try Linked()
        linked.bench.send(.leSetPHY(.init(handle: linked.handle(board), transmit: .le2M, receive: .le2M)), board)
        linked.bench.run(for: .seconds(3))
        for end in [0, 1] {
            let event = HCI.LEPHYUpdateComplete(
                status: .success,
                handle: linked.handle(end),
                transmit: .le2M,
                receive: .le2M
            )
            #expect(linked.bench.events(end) == [.lePHYUpdateComplete(event)])
        }
        linked.bench.run(for: .seconds(5))
        #expect(linked.bench.ending(board, linked.handle(board)) == nil)
    }

    @Test("A central sets new connection parameters, both hosts receive the event, and the timing holds")
    func timing() throws {
        var linked = try Linked()
        let parameters = Bench.parameters(interval: 80, latency: 2, timeout: 300)
        linked.bench.send(.leConnectionUpdate(.init(handle: linked.handle(0), parameters: parameters)), 0)
        linked.bench.run(for: .seconds(3))
        for end in [0, 1] {
            let event = HCI.LEConnectionUpdateComplete(
                status: .success,
                handle: linked.handle(end),
                interval: .init(wire: 80),
                latency: .init(wire: 2),
                timeout: .init(wire: 300)
            )
            #expect(linked.bench.events(end) == [.leConnectionUpdateComplete(event)])
        }
        linked.bench.air.recordsAir = true
        linked.bench.run(for: .seconds(30))
        let starts = linked.bench.records.filter { $0.sender.rawValue == 0 }.map(\.instant)
        #expect(zip(starts.dropFirst(), starts).allSatisfy { $0 - $1 == .milliseconds(100) })
        #expect(linked.bench.ending(0, linked.handle(0)) == nil)
    }

    @Test("The central's host accepts or rejects a peripheral's request for new parameters", arguments: [true, false])
    func request(isGranted: Bool) throws {
        var linked = try Linked()
        let parameters = Bench.parameters(interval: 80, timeout: 300)
        linked.bench.send(.leConnectionUpdate(.init(handle: linked.handle(1), parameters: parameters)), 1)
        linked.bench.run(for: .milliseconds(200))
        guard case .leRemoteConnectionParameterRequest(let request)? = linked.bench.events(0).first else {
            Issue.record("the central's host was not asked")
            return
        }
        #expect(request.maximum.wire == 80 && request.timeout.wire == 300)
        if isGranted {
            linked.bench.send(
                .leRemoteConnectionParameterRequestReply(.init(handle: linked.handle(0), parameters: parameters)),
                0
            )
        } else {
            let refusal = HCI.LERemoteConnectionParameterRequestNegativeReply(
                handle: linked.handle(0),
                reason: .unacceptableConnectionParameters
            )
            linked.bench.send(.leRemoteConnectionParameterRequestNegativeReply(refusal), 0)
        }
        #expect(linked.bench.lastStatus(0) == .success)
        linked.bench.run(for: .seconds(3))
        guard case .leConnectionUpdateComplete(let event)? = linked.bench.events(1).first else {
            Issue.record("the peripheral's host heard nothing")
            return
        }
        #expect(event.status == (isGranted ? .success : .unacceptableConnectionParameters))
        #expect(event.interval.wire == (isGranted ? 80 : 24))
    }

    @Test("A peripheral's parameter request is accepted even while the central's procedure queue is full")
    func requestAmongOthers() throws {
        var linked = try Linked()
        let parameters = Bench.parameters(interval: 80, timeout: 300), handle = linked.handle(0)
        linked.bench.send(.leConnectionUpdate(.init(handle: linked.handle(1), parameters: parameters)), 1)
        linked.bench.run(for: .milliseconds(200))
        while linked.bench.ask(.leReadRemoteFeatures(.init(handle: handle)), 0) == .success {}
        let reply = HCI.LERemoteConnectionParameterRequestReply(handle: handle, parameters: parameters)
        linked.bench.send(.leRemoteConnectionParameterRequestReply(reply), 0)
        #expect(linked.bench.lastStatus(0) == .success)
        linked.bench.run(for: .seconds(45))
        #expect(linked.bench.ending(1, linked.handle(1)) == nil)
        guard case .leConnectionUpdateComplete(let event)? = linked.bench.events(1).first else {
            Issue.record("the peripheral's host heard nothing")
            return
        }
        #expect((event.status, event.interval.wire) == (.success, 80))
    }

    @Test("A central rejects the parameter request if its host has masked out the event")
    func maskedRequest() throws {
        var linked = try Linked()
        linked.bench.send(.leSetEventMask(.init(mask: .standard)), 0)
        let parameters = Bench.parameters(interval: 80, timeout: 300)
        linked.bench.send(.leConnectionUpdate(.init(handle: linked.handle(1), parameters: parameters)), 1)
        linked.bench.run(for: .seconds(1))
        guard case .leConnectionUpdateComplete(let event)? = linked.bench.events(1).first else {
            Issue.record("the peripheral's host heard nothing")
            return
        }
        #expect(event.status == .unsupportedRemoteFeature)
    }

    @Test("A controller that gets no response for forty seconds ends the connection")
    func responseTimeout() throws {
        var linked = try Linked()
        let start = linked.bench.now, parameters = Bench.parameters(interval: 80, timeout: 300)
        linked.bench.send(.leConnectionUpdate(.init(handle: linked.handle(1), parameters: parameters)), 1)
        linked.bench.run(for: .seconds(45))
        #expect(linked.bench.ending(1, linked.handle(1)) == .linkLayerResponseTimeout)
        #expect(linked.bench.ending(0, linked.handle(0)) == .connectionTimeout)
        #expect(linked.bench.said[1].last?.instant == start + .seconds(40))
    }

    @Test("Channels that a central's host marks as bad are no longer used")
    func channels() throws {
        var linked = try Linked()
        let map: UInt64 = 0x00_0000_00FF
        linked.bench.send(.leSetHostChannelClassification(.init(channels: map)), 0)
        linked.bench.run(for: .seconds(2))
        linked.bench.air.recordsAir = true
        linked.bench.run(for: .seconds(10))
        #expect(Set(linked.bench.records.map(\.channel)) == Set(0..<8))
        linked.bench.send(.leReadChannelMap(.init(handle: linked.handle(1))), 1)
        guard case .commandComplete(let answer)? = linked.bench.said[1].last?.event else { return }
        #expect(try answer.returned(by: HCI.LEReadChannelMap.self).channels == map)
        #expect(linked.bench.ask(.leSetHostChannelClassification(.init(channels: 0)), 0) == .invalidCommandParameters)
    }

    @Test("The last channel map that a central's host set is the one in use in the end", arguments: [1, 20])
    func channelsTakenBack(count: Int) throws {
        var linked = try Linked()
        let all: UInt64 = 0x1F_FFFF_FFFF
        for map in (0..<UInt64(count)).map({ 0xFF << $0 }) + [all] {
            let classification = HCI.LESetHostChannelClassification(channels: map)
            #expect(linked.bench.ask(.leSetHostChannelClassification(classification), 0) == .success)
        }
        linked.bench.run(for: .seconds(3))
        linked.bench.send(.leReadChannelMap(.init(handle: linked.handle(0))), 0)
        guard case .commandComplete(let answer)? = linked.bench.said[0].last?.event else {
            Issue.record("the central's host heard of no channels")
            return
        }
        #expect(try answer.returned(by: HCI.LEReadChannelMap.self).channels == all)
    }

    @Test("A channel map set while the procedure queue is full is in use in the end")
    func channelsBehindOthers() throws {
        var linked = try Linked()
        let handle = linked.handle(0), latest: UInt64 = 0x00_0000_00FF
        var accepted = 0
        while linked.bench.ask(.leReadRemoteFeatures(.init(handle: handle)), 0) == .success { accepted += 1 }
        #expect(accepted == 9)
        for map in [0xFF00, 0xFF_0000, latest] {
            #expect(linked.bench.ask(.leSetHostChannelClassification(.init(channels: map)), 0) == .success)
        }
        linked.bench.run(for: .seconds(10))
        linked.bench.send(.leReadChannelMap(.init(handle: handle)), 0)
        guard case .commandComplete(let answer)? = linked.bench.said[0].last?.event else {
            Issue.record("the central's host heard of no channels")
            return
        }
        #expect(try answer.returned(by: HCI.LEReadChannelMap.self).channels == latest)
    }

    @Test("Pending channel map updates take no place in the queue of host requests")
    func channelsAside() throws {
        var linked = try Linked()
        let handle = linked.handle(0)
        for map in [0xFF, 0xFF00] as [UInt64] {
            #expect(linked.bench.ask(.leSetHostChannelClassification(.init(channels: map)), 0) == .success)
        }
        var accepted = 0
        while linked.bench.ask(.leReadRemoteFeatures(.init(handle: handle)), 0) == .success { accepted += 1 }
        #expect(accepted == 8)
    }

    @Test("All procedures started together from both ends complete on lossy air", arguments: UInt64(0)..<16)
    func everything(seed: UInt64) throws {
        var linked = try Linked(seed: seed, parameters: Bench.parameters(interval: 12, timeout: 600))
        linked.bench.air.conditions.loss = 0.3
        for end in [0, 1] {
            let handle = linked.handle(end)
            linked.bench.send(.leSetPHY(.init(handle: handle, transmit: .le2M, receive: .le2M)), end)
            linked.bench.send(.leReadRemoteFeatures(.init(handle: handle)), end)
            linked.bench.send(.readRemoteVersionInformation(.init(handle: handle)), end)
            linked.bench.send(.leSetDataLength(.init(handle: handle, octets: 200, time: 2_120)), end)
            let parameters = Bench.parameters(interval: end == 0 ? 40 : 56, timeout: 600)
            linked.bench.send(.leConnectionUpdate(.init(handle: handle, parameters: parameters)), end)
        }
        linked.bench.run(for: .seconds(20))
        for end in [0, 1] {
            let events = linked.bench.events(end)
            #expect(linked.bench.ending(end, linked.handle(end)) == nil)
            for subevent: HCI.LESubevent in [
                .phyUpdateComplete, .readRemoteFeaturesComplete, .connectionUpdateComplete,
            ] {
                #expect(events.contains { $0.subevent == subevent }, "board \(end): no \(subevent)")
            }
            #expect(events.contains { $0.code == .readRemoteVersionInformationComplete })
        }
    }

    @Test("A peripheral skips as many events as its latency allows, unless it has data to send")
    func latency() throws {
        var linked = try Linked(parameters: Bench.parameters(interval: 24, latency: 9, timeout: 600))
        linked.bench.air.recordsAir = true
        linked.bench.run(for: .seconds(30))
        let answers = linked.bench.records.filter { $0.sender.rawValue == 1 }.map(\.instant)
        #expect(zip(answers.dropFirst(), answers).allSatisfy { $0 - $1 == .milliseconds(300) })
        linked.bench.send([1, 2, 3], on: linked.handle(1), 1)
        linked.bench.run(for: .milliseconds(35))
        #expect(linked.bench.received(0, linked.handle(0)) == [1, 2, 3])
        linked.bench.send([4, 5, 6], on: linked.handle(0), 0)
        linked.bench.run(for: .milliseconds(310))
        #expect(linked.bench.received(1, linked.handle(1)) == [4, 5, 6])
    }
}
