import CoreBluetooth
import Testing

@testable import BLEDay

@Suite("The day's model of Apple's documentation")
struct OracleTests {
    private static let lost = CBError(.connectionTimeout)

    @Test("Each connection request is completed at most once")
    func connecting() {
        var link = LinkModel(hearsOfReconnecting: true)
        #expect(link.connected(at: .zero) != nil)
        link.connect(reconnects: false, at: .zero)
        link.connect(reconnects: false, at: .zero)
        #expect(link.asked == nil)
        #expect(link.connected(at: .zero) == nil)
        #expect(link.connected(at: .zero) != nil)
    }

    @Test("An existing connection is reported once to each app that asks, unless it ends or is cancelled first")
    func confirming() {
        for ends in [false, true] {
            var link = LinkModel(hearsOfReconnecting: true)
            link.connect(reconnects: false, at: .zero)
            _ = link.connected(at: .zero)
            link.connect(reconnects: false, at: .seconds(1))
            link.connect(reconnects: false, at: .seconds(2))
            #expect(link.asked == .seconds(1))
            var told = link
            let confirmations = [told.confirmed(), told.confirmed()]
            #expect(confirmations == [true, false])
            if ends { _ = link.disconnected(Self.lost, isReconnecting: false, isExcused: true, at: .zero) }
            if !ends { link.cancel(at: .zero) }
            #expect(link.asked == nil)
        }
    }

    @Test("A cancellation is confirmed once, without an error")
    func cancelling() {
        for isConnected in [false, true] {
            var link = LinkModel(hearsOfReconnecting: true)
            link.connect(reconnects: true, at: .zero)
            if isConnected { _ = link.connected(at: .zero) }
            link.cancel(at: .zero)
            var again = link, refused = link
            #expect(link.disconnected(nil, isReconnecting: false, isExcused: false, at: .zero) == nil)
            #expect(link.disconnected(nil, isReconnecting: false, isExcused: false, at: .zero) != nil)
            #expect(refused.disconnected(Self.lost, isReconnecting: false, isExcused: false, at: .zero) != nil)
            again.connect(reconnects: false, at: .zero)
            #expect(again.disconnected(nil, isReconnecting: false, isExcused: false, at: .zero) == nil)
            #expect(again.connected(at: .zero) == nil)
        }
    }

    @Test("A restored connection continues in the state of the earlier launch, and only there")
    func restoring() {
        for state in [CBPeripheralState.connecting, .connected] {
            var link = LinkModel(hearsOfReconnecting: true)
            #expect(link.restored(state, at: .zero) == nil)
            #expect(link.publicState == state)
            #expect((link.connected(at: .zero) == nil) == (state == .connecting))
            #expect(link.restored(state, at: .zero) != nil)
        }
        var link = LinkModel(hearsOfReconnecting: true)
        #expect(link.restored(.disconnected, at: .zero) != nil)
    }

    @Test(
        "A dropped connection has a cause and an error, and reconnects only for apps that asked and support it",
        arguments: [
            (true, true, true, true), (true, true, false, false), (true, false, true, false),
            (true, false, false, true), (false, true, true, false), (false, true, false, true),
        ]
    )
    func losing(hears: Bool, wants: Bool, isReconnecting: Bool, isRight: Bool) {
        var link = LinkModel(hearsOfReconnecting: hears)
        link.connect(reconnects: wants, at: .zero)
        _ = link.connected(at: .zero)
        var causeless = link, silent = link
        #expect(causeless.disconnected(Self.lost, isReconnecting: isReconnecting, isExcused: false, at: .zero) != nil)
        #expect(silent.disconnected(nil, isReconnecting: isReconnecting, isExcused: true, at: .zero) != nil)
        let complaint = link.disconnected(Self.lost, isReconnecting: isReconnecting, isExcused: true, at: .zero)
        #expect((complaint == nil) == isRight)
    }

    @Test("Requests are answered once and in order, whatever their subject")
    func order() {
        var requests = RequestModel()
        for kind in [RequestModel.Kind.services, .rssi, .read, .notify] {
            requests.ask(.init(kind: kind, subject: nil, outcome: .success, number: nil, made: .zero))
        }
        if case .early = requests.answer(.read, nil) {} else { Issue.record("a read may not overtake") }
        if case .unasked = requests.answer(.read, nil) {} else { Issue.record("a read is answered once") }
        if case .early = requests.answer(.rssi, nil) {} else { Issue.record("nor may what is about the link") }
        if case .due = requests.answer(.services, nil) {} else { Issue.record("the first is due") }
        if case .due = requests.answer(.notify, nil) {} else { Issue.record("then the one behind it") }
        requests.ask(.init(kind: .services, subject: nil, outcome: .success, number: nil, made: .zero))
        #expect(requests.overdue(since: .seconds(1)).count == 1)
        #expect(requests.end().map(\.kind) == [.services])
        #expect(requests.end().isEmpty)
    }

    @Test("A response must be the expected one, unless the link may have been lost")
    func answers() {
        var request = RequestModel.Request(
            kind: .read,
            subject: nil,
            outcome: .success,
            number: nil,
            made: .zero
        )
        #expect(RequestModel.complaint(request, nil, isExcused: false) == nil)
        #expect(RequestModel.complaint(request, Self.lost, isExcused: true) == nil)
        #expect(RequestModel.complaint(request, Self.lost, isExcused: false) != nil)
        request.outcome = .refusal(2)
        #expect(RequestModel.complaint(request, CBATTError(.readNotPermitted), isExcused: false) == nil)
        #expect(RequestModel.complaint(request, CBATTError(.writeNotPermitted), isExcused: false) != nil)
        #expect(RequestModel.complaint(request, nil, isExcused: true) != nil)
        request.outcome = .success
        request.isCertain = true
        #expect(RequestModel.complaint(request, Self.lost, isExcused: true) != nil)
    }

    @Test("Values arrive in order, none is lost, and none arrives without a subscription")
    func values() {
        var values = ValueModel()
        let value = { (number: UInt64) in Data(number.octets.suffix(4)) }
        #expect(values.received(value(5), isNotifying: false) != nil)
        #expect(values.received(value(5), isNotifying: true) == nil)
        #expect(values.received(value(6), isNotifying: true) == nil)
        #expect(values.received(value(6), isNotifying: true) != nil)
        #expect(values.received(value(8), isNotifying: true) != nil)
        values.changing()
        #expect(values.received(value(10), isNotifying: false) == nil)
        values.changed()
        #expect(values.received(value(20), isNotifying: true) == nil)
    }

    @Test("Values may be lost after a change of services, but none arrives twice")
    func heldBack() {
        var values = ValueModel()
        let value = { (number: UInt64) in Data(number.octets.suffix(4)) },
            excuse = { (since: Duration) in since < .seconds(3) }
        #expect(
            values.received(value(5), isNotifying: true, at: .seconds(2), isExcused: excuse) == nil
        )
        #expect(
            values.received(value(8), isNotifying: true, at: .seconds(4), isExcused: excuse) == nil
        )
        #expect(
            values.received(value(10), isNotifying: true, at: .seconds(5), isExcused: excuse)
                != nil
        )
        var twice = ValueModel()
        #expect(
            twice.received(value(5), isNotifying: true, at: .seconds(1), isExcused: excuse) == nil
        )
        #expect(
            twice.received(value(5), isNotifying: true, at: .seconds(2), isExcused: excuse) != nil
        )
    }

    @Test("Commands may be lost after a change of services while the link is up, but none arrives twice")
    func commands() {
        let excuse = { (since: Duration) in since < .seconds(3) }
        for (linked, isLenient) in [(2, true), (4, false)] as [(Int64, Bool)] {
            var commands = CommandModel()
            let steps: [(at: Int64, number: UInt64, isRight: Bool)] = [
                (1, 5, true), (2, 8, true), (2, 8, false), (10, 9, true), (11, 12, isLenient), (12, 20, false),
            ]
            for (now, number, isRight) in steps {
                let told = commands.received(
                    number,
                    at: .seconds(now),
                    linked: .seconds(linked),
                    isExcused: excuse
                )
                #expect((told == nil) == isRight, "\(number) at \(now) s, linked at \(linked) s")
            }
        }
    }

    @Test("Apps share a link from the first connection until none is left")
    func sharing() {
        var link = SharedLink()
        #expect(link.join(at: .seconds(1)) == .seconds(1))
        #expect(link.join(at: .seconds(2)) == .seconds(1))
        link.leave(at: .seconds(3))
        link.leave(at: .seconds(4))
        #expect(link.join(at: .seconds(4)) == .seconds(1))
        link.leave(at: .seconds(5))
        #expect(link.join(at: .seconds(6)) == .seconds(6))
    }

    @Test("A scan reports only what was requested, and each peripheral at most twice")
    func scanning() {
        var scan = ScanModel(services: [Layout.main], solicited: [], allowsDuplicates: false)
        let data = [CBAdvertisementDataServiceUUIDsKey: [Layout.main]], other = UUID()
        #expect(scan.discovered(other, [:], -40) != nil)
        let peripheral = UUID()
        #expect(scan.discovered(peripheral, data, -40) == nil)
        #expect(scan.discovered(peripheral, data, -40) == nil)
        #expect(scan.discovered(peripheral, data, -40) != nil)
    }

    @Test("A server's callbacks come exactly as often as it asked for them")
    func serving() {
        var server = ServerModel()
        #expect(server.started(nil) != nil)
        server.start(isWellFormed: true, at: .zero)
        server.start(isWellFormed: true, at: .zero)
        #expect(server.started(CBError(.alreadyAdvertising)) == nil)
        #expect(server.started(CBError(.alreadyAdvertising)) != nil)
        #expect(server.overdue(since: .seconds(1)) == ["start of advertising"])
        #expect(server.started(nil) == nil)
        #expect(server.ready() != nil)
        server.refused(at: .zero)
        #expect(server.ready() == nil)
        let central = UUID()
        #expect(server.unsubscribed(central, Layout.notified) != nil)
        #expect(server.subscribed(central, Layout.notified) == nil)
        #expect(server.subscribed(central, Layout.notified) != nil)
    }

    @Test("A server whose start fails when the radio is lost does not advertise later")
    func failedStart() {
        for (error, advertises) in [(nil, true), (CBError(.notConnected), false)] as [(CBError?, Bool)] {
            var server = ServerModel()
            server.start(isWellFormed: true, at: .zero)
            server.start(isWellFormed: true, at: .zero)
            server.radioLost(forgets: false)
            #expect(server.started(CBError(.alreadyAdvertising)) == nil && server.advertises)
            #expect(server.started(error) == nil && server.advertises == advertises)
            #expect(server.started(error) != nil)
        }
    }

    @Test("A request outstanding when the radio is lost may be answered once or not at all")
    func voidAdditions() {
        var server = ServerModel()
        let service = ObjectIdentifier(ServerModel.self)
        server.add(service, refusal: .uuidNotAllowed, at: .zero)
        server.radioLost(forgets: true)
        #expect(server.overdue(since: .seconds(1)).isEmpty)
        #expect(server.added(service, CBError(.uuidNotAllowed), isExcused: false) == nil)
        #expect(server.added(service, CBError(.uuidNotAllowed), isExcused: false) != nil)
    }
}
