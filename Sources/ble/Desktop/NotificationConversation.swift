import BLERuntime

/// The state of desktop notifications, without a socket: octets in, octets and events out.
///
/// Desktop Notifications Specification 1.2, D-Bus Protocol.
struct NotificationConversation {
    /// The identifier of a notification with buttons, valid until it is answered.
    struct ID: Hashable, Sendable { fileprivate let number: UInt64 }

    enum Event: Hashable {
        /// A server that shows notifications with buttons is available.
        case ready
        case pressed(ID, key: String)
        /// The user or the server closed the notification, or it could not be shown.
        case closed(ID)
    }

    /// A reason why notifications can no longer be shown.
    enum Failure: Error, Hashable, CustomStringConvertible {
        case bus(BusConversation.Failure)
        case noServer
        case refused(BusReply.Refusal)
        /// The server lacks this capability.
        case lacks(String)

        var description: String {
            switch self {
            case .bus(let failure): "\(failure)"
            case .noServer: "no notification service runs in this session"
            case .refused(let refusal): "the notification service answered: \(refusal.description.printable)"
            case .lacks(let what): "the notification service does not support  \(what)"
            }
        }
    }

    private enum Purpose {
        case signals, capabilities, other
        case show(ID)
    }

    private struct Notification {
        let id: ID
        let keys: [String]
        /// The identifier at the server; `nil` until it is known.
        var place: Place?
        /// True if to close it as soon as its identifier is known.
        var isWithdrawn = false
    }

    private struct Place: Hashable {
        let server: String?
        let number: UInt32
    }

    /// The maximum number of notifications with buttons at the same time.
    static let limit = 16
    static let name = "org.freedesktop.Notifications"
    static let path = "/org/freedesktop/Notifications"

    private var conversation: BusConversation
    private var calls: [(serial: UInt32, purpose: Purpose)] = []
    private var notices: [Notification] = []
    private var shown: UInt64 = 0
    private var hearsSignals = false
    private var capabilities: [String]?

    /// Starts a session as the user with this number.
    init(user: UInt32) throws(Failure) {
        conversation = BusConversation(user: user)
        do throws(BusConversation.Failure) {
            calls.append((try conversation.hear(interface: Self.name, of: Self.name), .signals))
        } catch {
            throw .bus(error)
        }
        try call(Self.name, "GetCapabilities", [], for: .capabilities)
    }

    /// Returns and removes the octets to send.
    mutating func takeOctets() -> [UInt8] { conversation.takeOctets() }

    /// Shows a notification.
    ///
    /// Returns its identifier if it has buttons; `nil` if there is no answer to wait for, or there are too many.
    mutating func show(_ notice: DesktopNotification) throws(Failure) -> ID? {
        var purpose = Purpose.other, id: ID?
        if !notice.buttons.isEmpty {
            guard notices.count < Self.limit else { return nil }
            shown += 1
            let next = ID(number: shown)
            notices.append(Notification(id: next, keys: notice.buttons.map(\.key)))
            id = next
            purpose = .show(next)
        }
        let marksUp = capabilities?.contains("body-markup") ?? true
        try call(Self.name, "Notify", notice.arguments(marksUp: marksUp), for: purpose)
        return id
    }

    /// Closes a notification that no longer needs an answer, without an event.
    mutating func withdraw(_ id: ID) throws(Failure) {
        guard let index = notices.firstIndex(where: { $0.id == id }) else { return }
        guard let place = notices[index].place else {
            notices[index].isWithdrawn = true
            return
        }
        notices.remove(at: index)
        try close(place)
    }

    /// Closes all notifications.
    mutating func withdrawAll() throws(Failure) { for notice in notices { try withdraw(notice.id) } }

    /// True if no notification has buttons and none is to be closed.
    var isEmpty: Bool { notices.isEmpty }

    /// Handles octets from the bus.
    ///
    /// A failure ends the session.
    mutating func receive(_ octets: [UInt8]) throws(Failure) -> [Event] {
        let heard: [BusConversation.Event]
        do throws(BusConversation.Failure) { heard = try conversation.receive(octets) } catch { throw .bus(error) }
        var events: [Event] = []
        for event in heard {
            switch event {
            case .replied(let serial, let reply):
                if let event = try hear(reply, to: serial) { events.append(event) }
            case .signal(let signal):
                if let event = try hear(signal) { events.append(event) }
            }
        }
        return events
    }

    private mutating func hear(_ reply: BusReply, to serial: UInt32) throws(Failure) -> Event? {
        guard let index = calls.firstIndex(where: { $0.serial == serial }) else { return nil }
        switch (calls.remove(at: index).purpose, reply) {
        case (.signals, .values): hearsSignals = true
        case (.capabilities, .values(let values, _)):
            guard case .array(_, let list)? = values.first else { throw .lacks("GetCapabilities") }
            let names = list.compactMap { if case .string(let name) = $0 { name } else { nil } }
            for (name, what) in [("actions", "buttons"), ("body", "text")] where !names.contains(name) {
                throw .lacks(what)
            }
            capabilities = names
        case (.signals, .refused(let refusal)), (.capabilities, .refused(let refusal)):
            throw refusal.isAbsence ? .noServer : .refused(refusal)
        case (.show(let id), .values(let values, let server)):
            guard case .uint32(let number)? = values.first else { return forget(id) }
            return try place(id, at: Place(server: server, number: number))
        case (.show(let id), .refused): return forget(id)
        case (.other, _): return nil
        }
        return hearsSignals && capabilities != nil ? .ready : nil
    }

    private mutating func place(_ id: ID, at place: Place) throws(Failure) -> Event? {
        guard let index = notices.firstIndex(where: { $0.id == id }) else { return nil }
        notices[index].place = place
        if notices[index].isWithdrawn { try withdraw(id) }
        return nil
    }

    private mutating func forget(_ id: ID) -> Event? {
        guard let index = notices.firstIndex(where: { $0.id == id }) else { return nil }
        return notices.remove(at: index).isWithdrawn ? nil : .closed(id)
    }

    /// Handles a signal.
    ///
    /// Other programs on the bus can send such signals too, so only those of the notification server count.
    private mutating func hear(_ signal: BusMessage) throws(Failure) -> Event? {
        guard signal.interface == Self.name, case .uint32(let number)? = signal.body.first else { return nil }
        let place = Place(server: signal.sender, number: number)
        guard let index = notices.firstIndex(where: { $0.place == place }) else { return nil }
        switch (signal.member, signal.body.last) {
        case ("ActionInvoked", .string(let key)) where notices[index].keys.contains(key):
            // Not all servers do that by themselves.
            try close(place)
            return .pressed(notices.remove(at: index).id, key: key)
        case ("NotificationClosed", _): return .closed(notices.remove(at: index).id)
        default: return nil
        }
    }

    private mutating func close(_ place: Place) throws(Failure) {
        try call(place.server ?? Self.name, "CloseNotification", [.uint32(place.number)], for: .other)
    }

    private mutating func call(
        _ destination: String,
        _ member: String,
        _ body: [BusValue],
        for purpose: Purpose
    ) throws(Failure) {
        var message = BusMessage(kind: .call, serial: 0, path: Self.path, interface: Self.name, member: member)
        message.destination = destination
        message.body = body
        do throws(BusConversation.Failure) {
            calls.append((try conversation.call(message), purpose))
        } catch {
            throw .bus(error)
        }
    }
}
