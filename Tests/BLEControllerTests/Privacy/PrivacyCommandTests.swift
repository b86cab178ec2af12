import BLEController
import BLEWire
import Testing

/// Core 6.0, Vol 4, Part E, 7.8.38 to 7.8.45 and 7.8.77.
@Suite("Privacy commands")
struct PrivacyCommandTests {
    static let peer = Bench.identity(7, .public), stranger = Bench.identity(8, .public)

    /// What changes the list, or whether it is used.
    static let changes: [HCICommandPacket] = [
        .leAddDeviceToResolvingList(.init(identity: stranger, peerKey: Bench.key(8), localKey: .zero)),
        .leSetPrivacyMode(.init(identity: peer, mode: .device)),
        .leRemoveDeviceFromResolvingList(.init(identity: peer)), .leClearResolvingList,
    ]

    enum Activity: CaseIterable { case advertising, scanning, initiating }

    @Test(
        "The resolving list cannot change while address resolution is on and the controller is busy",
        arguments: Activity.allCases
    )
    func disallowed(activity: Activity) {
        for isResolving in [true, false] {
            var bench = Bench()
            let board = bench.addPrivate()
            bench.list(7, on: board)
            bench.resolve(board, isResolving)
            switch activity {
            case .advertising: bench.advertise(board)
            case .scanning: bench.scan(board)
            case .initiating: bench.initiate(board, to: Self.peer)
            }
            for change in Self.changes {
                #expect(bench.ask(change, board) == (isResolving ? .commandDisallowed : .success), "\(change)")
            }
            let toggle = HCICommandPacket.leSetAddressResolutionEnable(.init(enable: !isResolving))
            #expect(bench.ask(toggle, board) == .commandDisallowed)
            #expect(bench.ask(.leSetResolvablePrivateAddressTimeout(.init()), board) == .success)
            #expect(bench.ask(.reset, board) == .success)
            bench.list(7, on: board)
            #expect(bench.lastStatus(board) == .success)
        }
    }

    @Test("Every command about a peer that is not listed fails with an unknown connection identifier")
    func unlisted() {
        var bench = Bench()
        let board = bench.add()
        bench.list(7, on: board)
        let questions: [HCICommandPacket] = [
            .leRemoveDeviceFromResolvingList(.init(identity: Self.stranger)),
            .leSetPrivacyMode(.init(identity: Self.stranger, mode: .device)),
            .leReadPeerResolvableAddress(.init(identity: Self.stranger)),
            .leReadLocalResolvableAddress(.init(identity: Self.stranger)),
            .leSetPrivacyMode(.init(identity: DeviceAddress(Self.peer.value, .random), mode: .device)),
        ]
        for question in questions {
            #expect(bench.ask(question, board) == .unknownConnectionIdentifier, "\(question)")
        }
    }

    @Test("A device that cannot be on the list is refused with the reason")
    func refusals() {
        let cases: [(identity: DeviceAddress, key: Int, status: HCI.Status)] = [
            (Self.peer, 9, .invalidCommandParameters), (Self.stranger, 7, .invalidCommandParameters),
            (DeviceAddress(0x4000_0000_0001, .random), 9, .invalidCommandParameters),
            (DeviceAddress(Self.stranger.value, .publicIdentity), 9, .invalidCommandParameters),
            (Self.stranger, 9, .success),
        ]
        for (identity, key, status) in cases {
            var bench = Bench()
            let board = bench.add()
            bench.list(7, on: board)
            let entry = HCI.LEAddDeviceToResolvingList(identity: identity, peerKey: Bench.key(key), localKey: .zero)
            #expect(bench.ask(.leAddDeviceToResolvingList(entry), board) == status, "\(identity)")
        }
    }

    @Test("Private addresses in use can be read, and are the over-the-air addresses", arguments: Form.allCases)
    func reading(form: Form) throws {
        var bench = Bench()
        let advertiser = bench.addPrivate(), scanner = bench.addPrivate()
        bench.befriend(advertiser, scanner)
        let (own, peer) = (Bench.address(advertiser), Bench.address(scanner))
        for isLocal in [true, false] {
            let none = try bench.readAddress(of: peer, isLocal: isLocal, advertiser)
            #expect(none == nil && bench.lastStatus(advertiser) == .unknownConnectionIdentifier)
        }
        bench.air.recordsAir = true
        bench.announce(form, advertiser, own: .resolvableOrPublic, peer: peer)
        bench.listen(form, scanner, type: .active, own: .resolvableOrPublic)
        bench.run(for: .seconds(2))
        let local = try bench.readAddress(of: peer, isLocal: true, advertiser)
        let heard = try bench.readAddress(of: own, isLocal: false, scanner)
        #expect(local != nil && local == bench.sent(advertiser).last?.own && heard == local)
        guard form == .legacy else { return }
        let asked = try bench.readAddress(of: own, isLocal: true, scanner)
        let asking = try bench.readAddress(of: peer, isLocal: false, advertiser)
        #expect(asked != nil && asked == bench.sent(scanner).last?.own && asking == asked)
    }

    /// Own address type, whether a random address is set, whether the peer is listed with a key of ours.
    static let needs: [(own: HCI.OwnAddress, isSet: Bool, isListed: Bool, status: HCI.Status)] = [
        (.resolvableOrRandom, false, false, .invalidCommandParameters), (.resolvableOrRandom, false, true, .success),
        (.resolvableOrRandom, true, false, .success), (.resolvableOrPublic, false, false, .success),
        (.random, false, true, .invalidCommandParameters),
    ]

    @Test(
        "An own address that can neither be generated nor was set is reported immediately",
        arguments: needs.indices,
        Form.allCases
    )
    func missing(index: Int, form: Form) {
        let (own, isSet, isListed, status) = Self.needs[index]
        var bench = Bench()
        let board = isSet ? bench.addPrivate() : bench.add()
        bench.list(7, hasLocalKey: isListed, on: board)
        switch form {
        case .legacy: bench.advertise(board, own: own, peer: Self.peer)
        case .extended:
            let parameters = Bench.parameters(0, [.connectable], own: own, peer: Self.peer)
            bench.send(.leSetExtendedAdvertisingParameters(parameters), board)
            if isSet {
                let address = Bench.identity(board, own)
                bench.send(.leSetAdvertisingSetRandomAddress(.init(set: Bench.set(0), address: address)), board)
            }
            _ = bench.enable(0, board)
        }
        #expect(bench.lastStatus(board) == status)
        bench.seek(form, board, Self.peer, own: own)
        #expect(bench.lastStatus(board) == status)
        // Of whom a scanner will hear is not known beforehand, nor who on the accept list will be there.
        let fallback: HCI.Status = own == .resolvableOrPublic || isSet ? .success : .invalidCommandParameters
        bench.listen(form, board, own: own)
        #expect(bench.lastStatus(board) == fallback)
    }

    @Test("A controller has the privacy commands and filters only if it supports privacy")
    func claims() throws {
        var plain = ControllerIdentity.Profile.core5
        plain.features.remove([.privacy, .extendedScanningFilterPolicies])
        var older = ControllerIdentity.Profile.core5
        older.version = HCI.CoreVersion.v4_2.wire
        for (profile, claims) in [(ControllerIdentity.Profile.core5, 9), (plain, 0), (older, 8)] {
            var bench = Bench()
            let board = bench.add(profile)
            let opcodes = (UInt16(0x2027)...0x202E).map { HCI.Opcode(wire: $0) } + [.leSetPrivacyMode]
            bench.send(.readLocalSupportedCommands, board)
            guard case .commandComplete(let answer)? = bench.said[board].last?.event else { return }
            let commands = try answer.returned(by: HCI.ReadLocalSupportedCommands.self).commands
            #expect(opcodes.filter(commands.contains).count == claims)
            bench.scan(board, policy: .everyoneAndUnresolved)
            let isRefused = bench.said[board].contains { said in
                guard case .commandComplete(let event) = said.event else { return false }
                return event.status == .unsupportedFeatureOrParameterValue
            }
            #expect(isRefused == (claims == 0))
        }
    }
}
