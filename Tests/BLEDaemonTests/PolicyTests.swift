import BLEHost
import BLESession
import BLEWire
import Foundation
import Glibc
import Testing

@testable import BLEDaemon

@Suite("Policy")
struct PolicyTests {
    private static let sensor = AppCredentials(
        user: 1_000,
        groups: [1_000, 44],
        process: 7,
        program: "/usr/bin/sensor"
    )

    /// Whether these tests run as the same user.
    private static var runsAsSensor: Bool { geteuid() == sensor.user }

    private func policy(_ rules: String) throws -> AppPolicy {
        try AppPolicy(json: Data(#"{"rules": [\#(rules)]}"#.utf8), origin: "P")
    }

    @Test("Without a policy everything is allowed, and with one only what its rules name")
    func none() throws {
        #expect(
            AppPolicy.none.grant(to: Self.sensor)
                == Grant(isAdministrator: Self.runsAsSensor, origin: "no policy")
        )
        #expect(AppPolicy.none.grant(to: nil) == Grant(origin: "no policy"))
        #expect(try policy("").grant(to: Self.sensor).roles.isEmpty)
        #expect(try policy("{}").grant(to: nil).roles.isEmpty)
    }

    @Test(
        "A rule applies if all of its conditions match, and the first such rule decides",
        arguments: [
            (#"{"user": 1000}"#, true), (#"{"user": 0}"#, false), (#"{"user": "root"}"#, false),
            (#"{"group": 44}"#, true), (#"{"group": 45}"#, false), (#"{"program": "/usr/bin/sensor"}"#, true),
            (#"{"program": "/usr/bin/"}"#, true), (#"{"program": "/usr/bin"}"#, false),
            (#"{"program": "/usr/bin/sens"}"#, false), (#"{"user": 1000, "group": 45}"#, false), ("{}", true),
            (#"{"user": 0}, {"user": 1000, "roles": ["central"]}"#, true),
            (#"{"user": 1000, "roles": []}, {"user": 1000}"#, false),
        ]
    )
    func matching(rules: String, isAllowed: Bool) throws {
        #expect(try policy(rules).grant(to: Self.sensor).roles.isEmpty == !isAllowed)
    }

    @Test("A policy decides when devices pair unattended", arguments: UnattendedPairing.allCases)
    func unattended(wanted: UnattendedPairing) throws {
        let text = #"{"rules": [{}], "unattendedPairing": "\#(wanted)"}"#
        let policy = try AppPolicy(json: Data(text.utf8), origin: "P")
        #expect(policy.unattendedPairing == wanted)
        for asked in UnattendedPairing.allCases {
            let request = ClientRequest.security(.setPolicy(PairingPolicy(unattended: asked)))
            let refusal = SessionFilter(policy.grant(to: Self.sensor), for: .agent).refusal(of: request)
            #expect((refusal == nil) == (asked <= wanted))
        }
    }

    @Test("By default apps may allow less unattended pairing than the host does, but not more")
    func unattendedByDefault() throws {
        for policy in [AppPolicy.none, try policy("{}")] {
            #expect(policy.unattendedPairing == nil)
            let gate = SessionFilter(policy.grant(to: Self.sensor), for: .agent)
            let refused = UnattendedPairing.allCases.filter {
                gate.refusal(of: .security(.setPolicy(PairingPolicy(unattended: $0)))) != nil
            }
            #expect(refused == [.always])
        }
    }

    @Test("A rule lists what it allows, and the grant names its rule")
    func words() throws {
        let text = #"{"user": 5}, {"roles": ["central"], "radios": ["hci:1"], "services": ["180D"], "pairing": false, "#
        let grant = try policy(text + #""addresses": false}"#).grant(to: Self.sensor)
        let expected = Grant(
            roles: [.central],
            radios: ["hci:1"],
            services: [.short(0x180D)],
            pairs: false,
            seesAddresses: false,
            isAdministrator: Self.runsAsSensor,
            origin: "rule 2 of P"
        )
        #expect(grant == expected)
        #expect(grant.refusal(of: .central, on: "hci:1") == nil)
        #expect(grant.refusal(of: .central, on: "hci:0") == "rule 2 of P does not allow the radio “hci:0”")
        #expect(grant.refusal(of: .peripheral, on: "hci:1") == "rule 2 of P does not allow the role peripheral")
        let other = try policy(#"{"user": 5}"#).grant(to: Self.sensor)
        #expect(other.origin == "P (no rule matches)")
        #expect(other.refusal(of: .central, on: "hci:1") == "P (no rule matches) denies all Bluetooth use")
    }

    /// The words of a rule, if there is a policy; the user of the app, and whether it is an administrator.
    private static let administrations: [(rule: String?, user: UInt32, isAdministrator: Bool)] = [
        (nil, 0, true), (nil, geteuid(), true), (nil, geteuid() + 1, false), ("", 0, true),
        ("", geteuid() + 1, false), (#""admin": true"#, geteuid() + 1, true), (#""admin": false"#, 0, false),
    ]

    @Test(
        "Root and the daemon's user are administrators unless a rule says otherwise, and others only if one says so",
        arguments: administrations
    )
    func administrators(rule: String?, user: UInt32, isAdministrator: Bool) throws {
        let app = AppCredentials(user: user, groups: [], process: 7, program: "/usr/bin/sensor")
        let current = try rule.map { try policy("{\($0)}") } ?? AppPolicy.none
        #expect(current.grant(to: app).isAdministrator == isAdministrator)
        #expect(!current.grant(to: nil).isAdministrator)
        #expect(current.grant(to: app).permissions(of: app).isAdministrator == isAdministrator)
    }

    @Test(
        "An error in a policy is reported with its position",
        arguments: [
            (#"{"rules": [{"usr": 1}]}"#, "“usr” is not a key of a rule; use one of "),
            (#"{"rule": []}"#, "“rule” is not a key of a policy; use one of rules"),
            (#"{"rules": [{"user": "nobody-else"}]}"#, "there is no user “nobody-else” (at rules[0].user)"),
            (#"{"rules": [{}, {"group": -1}]}"#, "rules[1].group"),
            (
                #"{"rules": [], "unattendedPairing": "sometimes"}"#,
                "“sometimes” is not one of never, whenNeeded, always (at unattendedPairing)"
            ),
            (#"{"rules": [{"roles": ["admin"]}]}"#, "“admin” is not one of central, peripheral, agent (at rules[0]"),
            (
                #"{"rules": [{"services": ["heart"]}]}"#,
                "“heart” is not a UUID; use 4 or 8 hexadecimal digits, 36 characters or an assigned name (at"
            ),
            (#"{"rules": [{"program": "sensor"}]}"#, "“sensor” is not an absolute path (at rules[0].program)"),
            ("{", "it is not valid JSON"), ("{}", "“rules” is missing"),
        ]
    )
    func refused(text: String, reason: String) throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "policy-\(UUID()).json")
        defer { try? FileManager.default.removeItem(at: path) }
        try Data(text.utf8).write(to: path)
        chmod(path.path, 0o600)
        let error = #expect(throws: PolicyFile.Problem.self) { try PolicyFile(path: path.path, isNeeded: true).read() }
        #expect(error?.description.contains(reason) == true, "\(error?.description ?? "")")
    }

    @Test("A program whose path is not verified matches no rule about a program")
    func pretended() throws {
        var app = Self.sensor
        app.isProgramKnown = false
        for program in ["/usr/bin/sensor", "/usr/bin/"] {
            #expect(try policy(#"{"program": "\#(program)"}"#).grant(to: app).roles.isEmpty)
        }
        #expect(try policy(#"{"user": 1000}"#).grant(to: app).roles.isEmpty == false)
    }

    @Test(
        "A policy file in a directory that others may write to is not trusted",
        arguments: [0o777, 0o775] as [mode_t]
    )
    func directory(mode: mode_t) throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "policy-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.appending(path: "policy.json").path
        try Data(#"{"rules": []}"#.utf8).write(to: URL(filePath: path))
        chmod(path, 0o644)
        chown(folder.path, geteuid(), 4_711)
        chmod(folder.path, mode)
        // Only root can give a directory to a group of others.
        guard mode == 0o777 || geteuid() == 0 else { return }
        #expect(throws: PolicyFile.Problem.self) { try PolicyFile(path: path, isNeeded: false).read() }
        chmod(folder.path, 0o755)
        #expect(try PolicyFile(path: path, isNeeded: false).read() != .none)
    }

    @Test("A policy file that others may write to is not trusted, and one explicitly named must exist")
    func trust() throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "policy-\(UUID()).json").path
        #expect(try PolicyFile(path: path, isNeeded: false).read() == .none)
        #expect(throws: PolicyFile.Problem.self) { try PolicyFile(path: path, isNeeded: true).read() }
        defer { try? FileManager.default.removeItem(atPath: path) }
        try Data(#"{"rules": []}"#.utf8).write(to: URL(filePath: path))
        chmod(path, 0o666)
        #expect(throws: PolicyFile.Problem.self) { try PolicyFile(path: path, isNeeded: false).read() }
        chmod(path, 0o644)
        #expect(try PolicyFile(path: path, isNeeded: false).read() != .none)
    }
}

@Suite("Services that a policy allows")
struct ServiceFilterTests {
    private static let peer = PeerIdentifier(rawValue: 1), other = PeerIdentifier(rawValue: 2)

    private func service(_ uuid: UInt16, _ start: UInt16, _ end: UInt16) throws -> DiscoveredService {
        let range = try #require(AttributeHandleRange(AttributeHandle(wire: start), AttributeHandle(wire: end)))
        return DiscoveredService(uuid: .short(uuid), range: range, isPrimary: true)
    }

    private func gate(for role: ClientRole = .central) throws -> SessionFilter {
        var gate = SessionFilter(Grant(services: [.short(0x180D)], origin: "P"), for: role)
        let found = [try service(0x1800, 1, 5), try service(0x180D, 6, 9), try service(0x180F, 10, 14)]
        let heard = gate.filter(.peer(Self.peer, .servicesDiscovered(.success(found))))
        #expect(heard == .peer(Self.peer, .servicesDiscovered(.success([found[1]]))))
        return gate
    }

    @Test("Allowed services are found and usable, and no others", arguments: 1...16 as ClosedRange<UInt16>)
    func handles(raw: UInt16) throws {
        let gate = try gate(), handle = AttributeHandle(wire: raw), isInside = 6...9 ~= raw
        let range = try #require(AttributeHandleRange(handle))
        let requests: [PeerRequest] = [
            .read(handle), .write(handle, [1]), .attribute(.writePart(handle, [1], offset: 2)),
            .writeCommand(handle, [1]), .attribute(.readWithoutPairing(handle)),
            .subscribe(.notifications, to: handle, in: nil),
            .discoverDescriptors(of: handle, in: range), .discoverCharacteristics(in: range, only: []),
            .discoverIncludedServices(in: range, only: []),
        ]
        for request in requests {
            #expect((gate.refusal(of: .peer(Self.peer, request)) == nil) == isInside, "\(request)")
            #expect(gate.refusal(of: .peer(Self.other, request)) != nil)
        }
        #expect(gate.refusal(of: .peer(Self.peer, .subscribe(.notifications, to: handle, in: .all))) != nil)
    }

    @Test("A launched app is told only of allowed services, and uses them without discovering them again")
    func restored() throws {
        let found = [try service(0x180D, 6, 9), try service(0x180F, 10, 14)]
        let validEvents: [PeerEvent] = [
            .servicesDiscovered(.success(found)), .characteristicsDiscovered(in: found[0].range, .success([])),
            .characteristicsDiscovered(in: found[1].range, .success([])),
            .subscriptionChanged(AttributeHandle(wire: 12), .notifications, nil),
        ]
        func restoration(_ validEvents: [PeerEvent]) -> ClientEvent {
            let peer = PreservedPeer(
                peer: Self.peer,
                request: ConnectRequest(),
                name: nil,
                mtu: 23,
                validEvents: validEvents
            )
            return .restored(.central(PreservedCentral(scan: nil, peers: [peer])))
        }
        var gate = SessionFilter(Grant(services: [.short(0x180D)], origin: "P"), for: .central)
        let heard = gate.filter(restoration(validEvents))
        #expect(heard == restoration([.servicesDiscovered(.success([found[0]])), validEvents[1]]))
        #expect(gate.refusal(of: .peer(Self.peer, .read(AttributeHandle(wire: 7)))) == nil)
    }

    @Test("A service becomes unknown again when it changes or the peer disconnects")
    func forgotten() throws {
        let read = ClientRequest.peer(Self.peer, .read(AttributeHandle(wire: 7)))
        #expect(SessionFilter(Grant(services: [.short(0x180D)], origin: "P"), for: .central).refusal(of: read) != nil)
        for event in [
            ClientEvent.disconnected(Self.peer, nil, isReconnecting: false), .peer(Self.peer, .servicesModified(.all)),
        ] {
            var gate = try gate()
            #expect(gate.refusal(of: read) == nil)
            _ = gate.filter(event)
            #expect(gate.refusal(of: read) != nil)
        }
    }

    @Test("Unchanged services stay known when others change")
    func others() throws {
        var gate = try gate()
        let others = try #require(AttributeHandleRange(AttributeHandle(wire: 10), AttributeHandle(wire: 14)))
        _ = gate.filter(.peer(Self.peer, .servicesModified(others)))
        #expect(gate.refusal(of: .peer(Self.peer, .read(AttributeHandle(wire: 7)))) == nil)
    }

    @Test("Only allowed services can be published, and no channel can be opened")
    func own() throws {
        let gate = try gate(for: .peripheral), central = try self.gate()
        func adding(_ uuid: UInt16) -> ClientRequest {
            .service(.addService(ServiceDefinition(id: LocalAttributeID(rawValue: 1), uuid: .short(uuid))))
        }
        #expect(gate.refusal(of: adding(0x180D)) == nil)
        #expect(gate.refusal(of: adding(0x180F)) != nil)
        #expect(gate.refusal(of: .server(.publishChannel(encryptionRequired: true))) != nil)
        #expect(central.refusal(of: .peer(Self.peer, .openChannel(SPSM(wire: 0x80)))) != nil)
        #expect(central.refusal(of: .peer(Self.peer, .readRSSI)) == nil)
    }

    @Test("The number of peers whose services are remembered is limited")
    func limit() throws {
        var fence = ServiceFilter(allowing: [.short(0x180D)])
        let service = try service(0x180D, 6, 9)
        for number in 0..<1_000 as Range<UInt128> { _ = fence.filter([service], at: PeerIdentifier(rawValue: number)) }
        #expect(fence.contains(service.range, at: PeerIdentifier(rawValue: 999)))
        #expect(!fence.contains(service.range, at: PeerIdentifier(rawValue: 0)))
    }
}
