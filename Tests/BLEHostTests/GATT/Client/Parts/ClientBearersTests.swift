import BLEWire
import Testing

@testable import BLEHost

@Suite("The bearers of a client")
struct ClientBearersTests {
    static let first = ClientID(rawValue: 1), second = ClientID(rawValue: 2)
    static let channel = ChannelID(rawValue: 7)

    static func handle(_ wire: UInt16) -> AttributeHandle { AttributeHandle(wire: wire) }

    static func reading(_ wire: UInt16, for client: ClientID, order: UInt64) -> ClientProcedure {
        ClientProcedure(.read(ValueReading(handle(wire)), handle(wire)), for: .client(Requester(client)), order: order)
    }

    /// Two bearers, of which the first reads the value at handle 3 for the first client.
    static func reading() -> ClientBearers {
        var bearers = ClientBearers(), database = PeerDatabase()
        bearers.open(channel, mtu: 64)
        if case .request(let packet) = bearers.all[0].begin(reading(3, for: first, order: 1), &database, mtu: 23) {
            bearers.all[0].ask(packet.opcode, at: Instant())
        }
        return bearers
    }

    @Test("Beside a read, a bearer admits only reads of the same client, but any request of another client")
    func admission() {
        let bearers = Self.reading(), none = WriteCommands()
        let cases: [(AttributeRequest, ClientID, Bool)] = [
            (.read(Self.handle(5)), Self.first, true), (.read(Self.handle(3)), Self.first, false),
            (.write(Self.handle(5), [1]), Self.first, false), (.write(Self.handle(5), [1]), Self.second, true),
            (.write(Self.handle(5), [UInt8](repeating: 0, count: 61)), Self.second, true),
            (.write(Self.handle(5), [UInt8](repeating: 0, count: 62)), Self.second, false),
            (.discoverServices(only: []), Self.second, false), (.read(Self.handle(3)), Self.second, true),
        ]
        for (request, client, isAdmitted) in cases {
            #expect(bearers.admits(request, of: client, at: 1, behind: none) == isAdmitted, "\(request)")
        }
    }

    @Test("Nothing of a client overtakes its write commands")
    func commands() {
        var commands = WriteCommands()
        commands.append(SendReceipt(rawValue: 1), of: Self.second)
        let bearers = Self.reading()
        #expect(!bearers.admits(.read(Self.handle(5)), of: Self.second, at: 1, behind: commands))
        #expect(bearers.admits(.read(Self.handle(5)), of: Self.first, at: 1, behind: commands))
    }

    @Test("The bearers know which earlier requests are under way on any bearer, and which are to be repeated")
    func order() {
        var bearers = Self.reading(), database = PeerDatabase()
        _ = bearers.all[1].begin(Self.reading(5, for: Self.second, order: 2), &database, mtu: 64)
        bearers.queueForRepetition(Self.reading(6, for: Self.first, order: 4))
        bearers.queueForRepetition(Self.reading(7, for: Self.first, order: 3))
        #expect(bearers.underWay(for: nil).map(\.order) == [1, 2, 3, 4])
        #expect(bearers.underWay(for: Self.second).map(\.order) == [2])
        #expect(bearers.isUnderWay(before: 2, for: Self.first) && !bearers.isUnderWay(before: 1, for: Self.first))
        #expect(!bearers.isUnderWay(before: 2, for: Self.second))
        #expect(bearers.blocked.sorted() == [Self.first, Self.first, Self.first, Self.second])
        let next = bearers.nextToRepeat()
        #expect(next?.order == 3)
        #expect(next?.isRepeated == true)
        bearers.withdraw(4, with: .cancelled)
        bearers.withdraw(1, with: .cancelled)
        #expect(bearers.underWay(for: nil).map(\.order) == [2])
        let isRunning = bearers.all[0].isRunning
        #expect(isRunning, "its answer is still to come")
    }

    @Test("A bearer that closes returns its request, and the others continue")
    func closing() {
        var bearers = Self.reading(), database = PeerDatabase()
        _ = bearers.all[1].begin(Self.reading(5, for: Self.second, order: 2), &database, mtu: 64)
        let lost = bearers.close(Self.channel)
        #expect(lost?.order == 2)
        #expect(bearers.enhancedCount == 0 && bearers.index(of: .enhanced(Self.channel)) == nil)
        let again = bearers.close(Self.channel)
        #expect(again == nil)
        bearers.endAll()
        let isRunning = bearers.all[0].isRunning, isFree = bearers.all[0].isFree
        #expect(!isRunning && !isFree, "an answer may still come")
    }

    @Test("A bearer is dead only once a transaction was not answered for 30 s")
    func expiry() {
        var bearers = Self.reading()
        #expect(bearers.deadline == Instant() + .seconds(30))
        let early = bearers.all[0].expire(at: Instant() + .milliseconds(29_999))
        #expect(early == .nothing && !bearers.all[0].hasTimedOut)
        let due = bearers.all[0].expire(at: Instant() + .seconds(30))
        #expect(due == .abandon && bearers.all[0].hasTimedOut)
    }
}
