import BLEWire
import Testing

@testable import BLEHost

/// Several apps publish services and channels on one host.
@Suite("The share of an app")
struct AppShareTests {
    private static let first = ClientOwner(user: 1001, process: 1, isAdministrator: false)
    private static let second = ClientOwner(user: 1001, process: 2, isAdministrator: false)

    private func published(_ rig: Rig, by client: ClientID) -> [Failure?] {
        rig.perform(.server(.publishChannel(encryptionRequired: false)), for: client)
        return rig.events(of: client).suffix(1).compactMap { event in
            if case .server(.channelPublished(_, let failure)) = event { .some(failure) } else { nil }
        }
    }

    @Test("The channels of all sessions of an app together are limited, so other apps still get PSMs")
    func channels() {
        let rig = Rig.ready(), sessions = (10...12).map { ClientID(rawValue: $0) }
        for (session, owner) in zip(sessions, [Self.first, Self.first, Self.second]) {
            rig.host.open(session, role: .peripheral, of: owner, at: rig.now)
        }
        let limit = Limits().publishedChannelsOfApp
        for number in 0..<limit { #expect(published(rig, by: sessions[number % 2]) == [nil]) }
        for session in sessions.prefix(2) { #expect(published(rig, by: session) == [.limitReached]) }
        #expect(published(rig, by: sessions[2]) == [nil])
        let psm = rig.host.layers.channels.publications.first { $0.owner == .client(sessions[0]) }?.spsm ?? .none
        rig.perform(.server(.unpublishChannel(psm)), for: sessions[0])
        #expect(published(rig, by: sessions[1]) == [nil])
    }

    @Test("The program that contains the host can publish more channels than an app of the daemon")
    func program() {
        let rig = Rig.ready()
        for _ in 0..<128 { #expect(published(rig, by: Rig.peripheral) == [nil]) }
        #expect(published(rig, by: Rig.peripheral) == [.limitReached])
    }

    private func service(_ id: UInt32) -> ServiceDefinition {
        let characteristics = (1..<3).map {
            CharacteristicDefinition(
                id: LocalAttributeID(rawValue: id + $0),
                uuid: .short(0xB001),
                properties: .notify,
                permissions: .readable
            )
        }
        return ServiceDefinition(
            id: LocalAttributeID(rawValue: id),
            uuid: .short(0xB000),
            characteristics: characteristics
        )
    }

    @Test("The handles of all sessions of an app together are limited, so other apps still get handles")
    func handles() {
        var limits = Limits(), database = GATTDatabase.plain()
        limits.handlesOfApp = 20
        let sessions = (1...3).map { ClientID(rawValue: $0) }
        func add(_ id: UInt32, _ session: Int, _ app: ClientOwner) -> Failure? {
            let result = database.add(service(id), for: sessions[session], of: app, limits: limits)
            return if case .failure(let failure) = result { failure } else { nil }
        }
        // Each service has seven attributes.
        #expect(add(10, 0, Self.first) == nil)
        #expect(add(10, 1, Self.first) == nil)
        #expect(add(20, 0, Self.first) == .limitReached)
        #expect(add(20, 1, Self.first) == .limitReached)
        #expect(add(10, 2, Self.second) == nil)
        #expect(add(20, 2, Self.second) == nil)
        #expect(add(30, 2, Self.second) == .limitReached)
    }

    @Test("The handles of removed services count until they can be assigned again")
    func removed() {
        var limits = Limits()
        limits.handlesOfApp = 20
        var lone = LoneLayer(role: .peripheral, limits: limits)
        func add(_ id: UInt32, _ client: ClientID) -> ServerEvent? {
            lone.layer.perform(.addService(service(id)), for: client, of: Self.first, at: lone.now)
            _ = lone.sent()
            return lone.serverEvents(of: client).last
        }
        let ids = (1...4).map { ClientID(rawValue: $0) }
        for client in ids.prefix(2) {
            #expect(add(10, client) == .serviceAdded(LocalAttributeID(rawValue: 10), nil))
            lone.layer.clientClosed(client, at: lone.now)
            _ = lone.sent()
        }
        #expect(add(10, ids[2]) == .serviceAdded(LocalAttributeID(rawValue: 10), .limitReached))
        lone.layer.linkDown(LoneLayer.link, failure: .notConnected, at: lone.now)
        _ = lone.sent()
        for client in ids.suffix(2) {
            #expect(add(10, client) == .serviceAdded(LocalAttributeID(rawValue: 10), nil))
        }
        #expect(add(20, ids[3]) == .serviceAdded(LocalAttributeID(rawValue: 20), .limitReached))
    }
}
