import BLEWire
import Testing

@testable import BLEHost

@Suite("Controller requests about a link")
struct LinkControlTests {
    static let nora = ClientID(rawValue: 1), otto = ClientID(rawValue: 2)
    static let parameters = HCI.ConnectionParameters(.peripheral(.low), timeout: .init(.seconds(2)))
    static let layers = LinkTuning.physicalLayers(transmit: .le2M, receive: .le2M)
    static let events: [LinkControl.Request] = [.tune(.parameters(parameters)), .tune(layers), .propose(parameters)]
    static let answers: [LinkControl.Request] = [.readRSSI, .readPHY, .tune(.dataLength(octets: 100))]

    var control = LinkControl(LinkDetails(address: DeviceAddress(1, .public)))

    /// Asks for something, and says under which number.
    private func ask(
        _ control: inout LinkControl,
        _ request: LinkControl.Request,
        by client: ClientID? = nora
    ) -> UInt32 {
        guard case .submit(let number) = control.ask(request, for: client.map { Requester($0) }) else { return 0 }
        return number
    }

    private static func parameters(_ status: HCI.Status = .success) -> HCI.LEConnectionUpdateComplete {
        .init(
            status: status,
            handle: .lowest,
            interval: .init(wire: 24),
            latency: .init(wire: 2),
            timeout: .init(wire: 300)
        )
    }

    private static func layers(_ status: HCI.Status = .success) -> HCI.LEPHYUpdateComplete {
        .init(status: status, handle: .lowest, transmit: .le2M, receive: .leCoded)
    }

    private func number(_ action: LinkControl.OnAnswer) -> UInt32? {
        if case .finished(let pending) = action { pending.number } else { nil }
    }

    @Test("A request completes with its response, unless the peer must agree", arguments: answers + events)
    func taking(request: LinkControl.Request) {
        var control = control
        let number = ask(&control, request)
        #expect(self.number(control.accepted(number)) == (Self.answers.contains(request) ? number : nil))
        #expect(control.end().map(\.number) == (Self.answers.contains(request) ? [] : [number]))
    }

    @Test("A refused request completes once", arguments: answers + events)
    func refusing(request: LinkControl.Request) {
        var control = control
        let number = ask(&control, request)
        #expect(self.number(control.refused(number)) == number)
        #expect(control.refused(number) == .wait && control.accepted(number) == .wait && control.end().isEmpty)
    }

    @Test("An event completes only the oldest change of its kind")
    func agreeing() {
        var control = control
        let requests: [LinkControl.Request] = [
            .readRSSI, .tune(Self.layers), .propose(Self.parameters), .tune(.parameters(Self.parameters)),
        ]
        let numbers = requests.map { ask(&control, $0) }
        #expect(number(control.updated(Self.parameters())) == numbers[2])
        #expect(number(control.updated(Self.parameters(.unsupportedRemoteFeature))) == numbers[3])
        #expect(control.updated(Self.parameters()) == .wait)
        #expect(number(control.updated(Self.layers())) == numbers[1])
        #expect(control.updated(Self.layers()) == .wait)
        #expect(control.end().map(\.number) == [numbers[0]])
    }

    @Test("Only a peripheral's latest proposal counts")
    func proposing() {
        var control = control
        let first = ask(&control, .propose(Self.parameters), by: nil)
        let second = ask(&control, .propose(Self.parameters), by: nil)
        #expect(control.refused(first) == .wait)
        #expect(number(control.refused(second)) == second)
    }

    @Test("The number of pending changes is limited, whatever else is requested")
    func limit() {
        var control = control
        for _ in 0..<LinkControl.limit {
            #expect(ask(&control, .readRSSI) > 0)
            #expect(ask(&control, .tune(Self.layers)) > 0)
        }
        guard case .tooMany(let pending) = control.ask(.tune(Self.layers), for: Requester(Self.otto)) else {
            return #expect(Bool(false))
        }
        #expect(pending.requester?.client == Self.otto && pending.request == .tune(Self.layers))
        #expect(ask(&control, .propose(Self.parameters), by: nil) > 0)
        #expect(control.end().count == 2 * LinkControl.limit + 1)
    }

    @Test("A client that leaves gets back its requests, and those of others stay")
    func leaving() {
        var control = control
        let first = ask(&control, .readRSSI, by: Self.nora), second = ask(&control, .readRSSI, by: Self.otto)
        #expect(control.removeRequests(Self.nora).map(\.number) == [first])
        #expect(control.removeRequests(Self.nora).isEmpty)
        #expect(number(control.accepted(second)) == second)
    }

    @Test("Link details follow the controller's events, and failures change nothing")
    func details() {
        var control = control
        let before = control.details
        _ = control.updated(Self.parameters(.unsupportedRemoteFeature))
        _ = control.updated(Self.layers(.unsupportedRemoteFeature))
        #expect(control.details == before)
        _ = control.updated(Self.parameters())
        _ = control.updated(Self.layers())
        #expect(control.details.interval?.wire == 24 && control.details.latency?.wire == 2)
        #expect(control.details.transmitPHY == .le2M && control.details.receivePHY == .leCoded)
        #expect(
            control.securityChanged(to: .encrypted) == .announce && control.securityChanged(to: .encrypted) == .ignore
        )
        #expect(control.details.security == .encrypted)
    }
}
