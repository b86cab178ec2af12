import BLEWire
import Testing

@testable import BLEHost

/// Pairing that a stranger begins while nobody is asked.
@Suite("Unattended pairing")
struct UnattendedPairingTests {
    private static let address = DeviceAddress(0xC0FF_EE00_0001, .random)
    private static let link = ConnectionHandle(wire: 0x40) ?? .lowest
    private static let notSupported: [UInt8] = [0x05, 0x05]

    /// What the apps of a host do, and whether a Pairing Request is answered for it.
    struct Case: Sendable, CustomStringConvertible {
        let description: String
        var permissions: AttributePermissions?
        var properties: CharacteristicProperties = [.read, .write]
        var channel: Bool?
        var agent: SMP.IOCapability?
        var isConnected = false
        let isAnswered: Bool
    }

    static let cases: [Case] = [
        Case(description: "nothing", isAnswered: false),
        Case(description: "an open value", permissions: [.readable, .writeable], isAnswered: false),
        Case(description: "a value read encrypted", permissions: .readEncryptionRequired, isAnswered: true),
        Case(description: "a value written encrypted", permissions: .writeEncryptionRequired, isAnswered: true),
        Case(description: "a value read authenticated", permissions: .readAuthenticationRequired, isAnswered: true),
        Case(description: "a value written authenticated", permissions: .writeAuthenticationRequired, isAnswered: true),
        Case(description: "open notifications", permissions: [], properties: .notify, isAnswered: false),
        Case(
            description: "encrypted notifications",
            permissions: [],
            properties: .notifyEncryptionRequired,
            isAnswered: true
        ),
        Case(description: "an open channel", channel: false, isAnswered: false),
        Case(description: "an encrypted channel", channel: true, isAnswered: true),
        Case(description: "an agent", agent: .displayYesNo, isAnswered: true),
        Case(description: "an agent without means", agent: .noInputNoOutput, isAnswered: true),
        Case(description: "an app connected to the peer", isConnected: true, isAnswered: true),
    ]

    static var request: [UInt8] {
        var features = SMP.PairingFeatures()
        features.ioCapability = .noInputNoOutput
        features.authentication = [.bonding, .secureConnections]
        features.greatestKeySize = 16
        return SMPPacket.pairingRequest(features).encoded
    }

    private func makeRig(
        _ case: Case,
        _ configuration: Host.Configuration = .init(identifierSecret: 42)
    ) -> Rig {
        let rig = Rig.ready(configuration: configuration)
        if let agent = `case`.agent { rig.ask(.setAgent(agent)) }
        if let channel = `case`.channel {
            rig.perform(.server(.publishChannel(encryptionRequired: channel)), for: Rig.peripheral)
        }
        if let permissions = `case`.permissions {
            var service = ServiceDefinition(id: LocalAttributeID(rawValue: 1), uuid: .short(0xABCD))
            service.characteristics = [
                CharacteristicDefinition(
                    id: LocalAttributeID(rawValue: 2),
                    uuid: .short(0xABCE),
                    properties: `case`.properties,
                    permissions: permissions,
                    value: nil
                )
            ]
            rig.perform(.service(.addService(service)), for: Rig.peripheral)
        }
        return rig
    }

    /// What the host says to a packet of the peer's security manager.
    private func answer(_ packet: [UInt8], _ rig: Rig) -> [[UInt8]] {
        rig.forget()
        rig.deliver(packet, on: .securityManager, of: Self.link)
        rig.pump()
        return rig.frames.filter { $0.channel == .securityManager }.map(\.payload)
    }

    @Test(
        "A Pairing Request is answered if an app requires encryption or an agent is present, and refused otherwise",
        arguments: cases
    )
    func peripheral(case: Case) {
        let rig = makeRig(`case`)
        rig.peer = { request in
            if case .exchangeMTURequest = request { .exchangeMTUResponse(.init(serverMTU: 23)) } else { nil }
        }
        rig.connect(Self.address, role: .peripheral)
        if `case`.isConnected, let peer = rig.host.links[Self.link]?.peer {
            rig.perform(.connect(peer, ConnectRequest()))
        }
        let answers = answer(Self.request, rig)
        let asked = rig.events.contains { if case .security(.asked) = $0.event { true } else { false } }
        #expect((asked || answers.first?.first == 0x02) == `case`.isAnswered)
        #expect((answers == [Self.notSupported]) == !`case`.isAnswered)
    }

    /// What this host allows, whether an app needs encryption, whether somebody is asked, and what comes of it.
    static let policies: [(UnattendedPairing, isNeeded: Bool, isAttended: Bool, isAnswered: Bool)] = [
        (.never, false, false, false), (.never, true, false, false), (.never, false, true, true),
        (.never, true, true, true), (.whenNeeded, false, false, false), (.whenNeeded, true, false, true),
        (.whenNeeded, false, true, true), (.always, false, false, true), (.always, true, true, true),
    ]

    @Test("A policy of a client or of the configuration can restrict or extend pairing", arguments: policies)
    func policy(unattended: UnattendedPairing, isNeeded: Bool, isAttended: Bool, isAnswered: Bool) {
        var configuration = Host.Configuration(identifierSecret: 42)
        configuration.pairing.unattended = unattended
        for isConfigured in [true, false] {
            let rig = makeRig(
                Case(
                    description: "",
                    permissions: isNeeded ? .readEncryptionRequired : nil,
                    agent: isAttended ? .displayYesNo : nil,
                    isAnswered: isAnswered
                ),
                isConfigured ? configuration : .init(identifierSecret: 42)
            )
            if !isConfigured {
                rig.ask(.setPolicy(PairingPolicy(unattended: unattended)))
            }
            rig.connect(Self.address, role: .peripheral)
            let answers = answer(Self.request, rig)
            let asked = rig.events.contains { if case .security(.asked) = $0.event { true } else { false } }
            #expect((asked || answers.first?.first == 0x02) == isAnswered)
        }
    }

    @Test("The strictest of several policies applies, and one that is not set changes nothing")
    func joined() {
        let never = PairingPolicy(unattended: .never), always = PairingPolicy(unattended: .always)
        #expect(always.joined(with: PairingPolicy()).unattended == .always)
        #expect(always.joined(with: never).unattended == .never)
        #expect(PairingPolicy().joined(with: PairingPolicy()).unattended == nil)
    }

    @Test("A stranger that pairs while out-of-band data is known gains no access unless it claims to have the data")
    func outOfBand() {
        for flag: UInt8 in [0, 1] {
            let rig = makeRig(Case(description: "", isAnswered: false))
            rig.ask(.makeOutOfBandData)
            rig.connect(Self.address, role: .peripheral)
            var request = Self.request
            request[2] = flag
            let answers = answer(request, rig)
            #expect((answers.first?.first == 0x02) == (flag == 1))
            #expect((answers == [Self.notSupported]) == (flag == 0))
        }
    }

    @Test(
        "A stranger that claims to have out-of-band data cannot use legacy pairing without them",
        arguments: [UnattendedPairing.never, .whenNeeded]
    )
    func legacyOutOfBand(unattended: UnattendedPairing) {
        let rig = makeRig(Case(description: "", isAnswered: false))
        rig.ask(.setPolicy(PairingPolicy(unattended: unattended)))
        rig.ask(.makeOutOfBandData)
        rig.connect(Self.address, role: .peripheral)
        var request = Self.request
        (request[2], request[3]) = (0x01, 0x01)
        #expect(answer(request, rig).map(\.first) == [0x05])
    }

    @Test("A host that never pairs unattended reports the ATT error to the app, and sends nothing")
    func never() throws {
        let rig = Rig.ready()
        rig.ask(.setPolicy(PairingPolicy(unattended: .never)))
        rig.peer = { request in
            switch request {
            case .exchangeMTURequest: .exchangeMTUResponse(.init(serverMTU: 23))
            case .readRequest(let read):
                .errorResponse(
                    .init(request: .readRequest, handle: read.handle, code: .insufficientAuthentication)
                )
            default: nil
            }
        }
        let peer = rig.discover(Self.address)
        rig.perform(.connect(peer, ConnectRequest()))
        rig.connect(Self.address, role: .central)
        rig.perform(.peer(peer, .read(AttributeHandle(wire: 3))))
        let failures = rig.events.compactMap { entry -> Failure? in
            if case .peer(_, .valueRead(_, .failure(let failure)), _) = entry.event { failure } else { nil }
        }
        #expect(failures == [.att(.insufficientAuthentication)])
        #expect(!rig.frames.contains { $0.channel == .securityManager })
    }

    @Test("A removed service is no longer a reason to pair")
    func removed() {
        let rig = makeRig(Case(description: "", permissions: .readEncryptionRequired, isAnswered: true))
        rig.perform(.service(.removeAllServices), for: Rig.peripheral)
        rig.connect(Self.address, role: .peripheral)
        #expect(answer(Self.request, rig) == [Self.notSupported])
    }

    @Test(
        "A central pairs on a Security Request only while an app is connected to the peripheral",
        arguments: [true, false]
    )
    func central(isConnected: Bool) {
        let rig = Rig.ready()
        let peer = rig.discover(Self.address)
        rig.perform(.connect(peer, ConnectRequest()))
        rig.connect(Self.address, role: .central)
        if !isConnected { rig.perform(.cancelConnection(peer)) }
        let request = SMPPacket.securityRequest(.init([.bonding, .secureConnections])).encoded
        let answers = answer(request, rig)
        #expect(answers.contains { $0.first == 0x01 } == isConnected)
    }
}
