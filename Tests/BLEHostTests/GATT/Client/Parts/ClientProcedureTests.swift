import BLEWire
import Testing

@testable import BLEHost

@Suite("A client's procedure")
struct ClientProcedureTests {
    static let client = Requester(ClientID(rawValue: 1), RequestNumber(rawValue: 7))
    static let handle = AttributeHandle(wire: 9)
    private static let elsewhere = AttributeHandleRange(AttributeHandle(wire: 20), AttributeHandle(wire: 30))!
    static let service = AttributeHandleRange(AttributeHandle(wire: 8), AttributeHandle(wire: 12))!

    static func reading(_ handle: AttributeHandle = handle, order: UInt64 = 1) -> ClientProcedure {
        ClientProcedure(.read(ValueReading(handle), handle), for: .client(client), order: order)
    }

    static func lookup(for owner: ClientProcedure.Owner) -> ClientProcedure {
        ClientProcedure(.lookup(AttributeDiscovery(.characteristics(in: service, only: []), limit: 100)), for: owner)
    }

    static func configuring(for owner: ClientProcedure.Owner) -> ClientProcedure {
        let writing = ConfigurationWriting(1, to: .known(AttributeHandle(wire: 10)))
        return ClientProcedure(.configure(writing, of: handle), for: owner)
    }

    @Test("Restarting a procedure counts as a repeat, unless only the link had to be secured")
    func attempts() {
        var procedure = Self.reading()
        #expect(!procedure.isRepeated && procedure.refusal == nil)
        procedure.refuse(.security(.insufficientEncryption))
        #expect(procedure.refusal == .security(.insufficientEncryption))
        procedure.renew()
        #expect(!procedure.isRepeated && procedure.refusal == nil)
        procedure.refuse(.outOfSync)
        #expect(procedure.refusal == .outOfSync && !procedure.isRepeated)
        procedure.renew()
        #expect(procedure.isRepeated && procedure.refusal == nil)
        procedure.refuse(.security(.insufficientAuthentication))
        #expect(procedure.isRepeated)
        procedure.renew()
        #expect(procedure.isRepeated)
    }

    @Test("Restarting a procedure after its bearer was lost counts as a repeat")
    func lostBearer() {
        var procedure = Self.reading()
        procedure.renew()
        #expect(procedure.isRepeated)
    }

    @Test("A change makes a procedure outdated until its next request, and void if it concerns the change")
    func change() {
        var procedure = Self.reading()
        var event = procedure.servicesChanged(in: Self.elsewhere)
        #expect(event == .nothing && procedure.isOutdated && !procedure.isAboutRemoved)
        procedure.asked()
        #expect(!procedure.isOutdated)
        event = procedure.servicesChanged(in: Self.service)
        #expect(event == .nothing && procedure.isAboutRemoved)
        procedure.asked()
        procedure.renew()
        #expect(procedure.isAboutRemoved && !procedure.isOutdated)
    }

    @Test("A lookup of a removed service or a subscription to it is lost immediately")
    func lost() {
        for make in [Self.lookup, Self.configuring] {
            var procedure = make(.client(Self.client))
            let far = procedure.servicesChanged(in: Self.elsewhere)
            #expect(far == .nothing)
            let near = procedure.servicesChanged(in: Self.service)
            #expect(near == .lost)
        }
    }

    @Test("A withdrawn procedure ends with the next response, unless that would leave the peer with half of it")
    func withdrawn() {
        var database = PeerDatabase()
        var reading = Self.reading()
        reading.withdraw(.cancelled)
        #expect(reading.client == nil)
        guard case .end = reading.receive(.failure(.att(.readNotPermitted)), &database, mtu: 23) else {
            Issue.record("nobody waits for a value")
            return
        }
        var configuring = Self.configuring(for: .client(Self.client))
        _ = configuring.begin(&database, mtu: 23)
        configuring.withdraw(.cancelled)
        guard case .proceed(.finished) = configuring.receive(.success(.writeResponse), &database, mtu: 23) else {
            Issue.record("a configuration is carried through")
            return
        }
    }
}
