import BLERuntime
import DBus

/// The state of desktop notifications, without a socket: takes received octets, and returns events and octets to send.
///
/// Desktop Notifications Specification 1.2, D-Bus Protocol.
struct NotificationConversation {
    /// The identifier of a notification with buttons, valid until the user answers or the notification is closed.
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
        /// The server does not have this capability.
        case lacks(String)

        var description: String {
            switch self {
            case .bus(let failure): "\(failure)"
            case .noServer: "no notification service runs in this session"
            case .refused(let refusal): "the notification service answered “\(refusal.description.printable)”"
            case .lacks(let what): "the notification service does not support \(what)"
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
        /// The identifier that the server uses; `nil` until the server has reported it.
        var serverID: ServerID?
        /// True if the notification must be closed as soon as its identifier is known.
        var isWithdrawn = false
    }

    private struct ServerID: Hashable {
        let server: String?
        let number: UInt32
    }

    /// The maximum number of notifications with buttons that are open at the same time.
    static let limit = 16
    static let name = "org.freedesktop.Notifications"
    static let path = "/org/freedesktop/Notifications"

    private var conversation: BusConversation
    private var calls: [(serial: UInt32, purpose: Purpose)] = []
    private var notices: [Notification] = []
    private var shown: UInt64 = 0
    private var isSubscribed = false
    private var capabilities: [String]?

    /// Starts a session on the bus, as the user with the ID `user`.
    init(user: UInt32) throws(Failure) {
        conversation = BusConversation(user: user)
        do throws(BusConversation.Failure) {
            calls.append((try conversation.subscribe(toInterface: Self.name, of: Self.name), .signals))
        } catch {
            throw .bus(error)
        }
        try call(Self.name, "GetCapabilities", [], for: .capabilities)
    }

    /// Returns and removes the octets to send.
    mutating func takeOctets() -> [UInt8] { conversation.takeOctets() }

    /// Shows a notification.
    ///
    /// Returns an identifier if the notification has buttons, otherwise `nil`. Also returns `nil`, and shows nothing,
    /// if too many notifications with buttons are open.
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
        guard let place = notices[index].serverID else {
            notices[index].isWithdrawn = true
            return
        }
        notices.remove(at: index)
        try close(place)
    }

    /// Closes all notifications with buttons.
    mutating func withdrawAll() throws(Failure) { for notice in notices { try withdraw(notice.id) } }

    /// True if no notification with buttons is open.
    var isEmpty: Bool { notices.isEmpty }

    /// Processes octets from the bus, and returns the events in them.
    ///
    /// A failure ends the session.
    mutating func receive(_ octets: [UInt8]) throws(Failure) -> [Event] {
        let heard: [BusConversation.Event]
        do throws(BusConversation.Failure) { heard = try conversation.receive(octets) } catch { throw .bus(error) }
        var events: [Event] = []
        for event in heard {
            switch event {
            case .replied(let serial, let reply, _):
                if let event = try process(reply, to: serial) { events.append(event) }
            case .signal(let signal):
                if let event = try process(signal) { events.append(event) }
            // The conversation itself refuses calls by other programs.
            case .called: break
            }
        }
        return events
    }

    private mutating func process(_ reply: BusReply, to serial: UInt32) throws(Failure) -> Event? {
        guard let index = calls.firstIndex(where: { $0.serial == serial }) else { return nil }
        switch (calls.remove(at: index).purpose, reply) {
        case (.signals, .values): isSubscribed = true
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
            return try serverID(id, at: ServerID(server: server, number: number))
        case (.show(let id), .refused): return forget(id)
        case (.other, _): return nil
        }
        return isSubscribed && capabilities != nil ? .ready : nil
    }

    private mutating func serverID(_ id: ID, at place: ServerID) throws(Failure) -> Event? {
        guard let index = notices.firstIndex(where: { $0.id == id }) else { return nil }
        notices[index].serverID = place
        if notices[index].isWithdrawn { try withdraw(id) }
        return nil
    }

    private mutating func forget(_ id: ID) -> Event? {
        guard let index = notices.firstIndex(where: { $0.id == id }) else { return nil }
        return notices.remove(at: index).isWithdrawn ? nil : .closed(id)
    }

    /// Processes a signal from the bus, and returns the event for it; `nil` if there is none.
    ///
    /// Any program on the bus can send such signals, so signals from senders other than the notification server are
    /// ignored.
    private mutating func process(_ signal: BusMessage) throws(Failure) -> Event? {
        guard signal.interface == Self.name, case .uint32(let number)? = signal.body.first else { return nil }
        let place = ServerID(server: signal.sender, number: number)
        guard let index = notices.firstIndex(where: { $0.serverID == place }) else { return nil }
        switch (signal.member, signal.body.last) {
        case ("ActionInvoked", .string(let key)) where notices[index].keys.contains(key):
            // Some servers do not close a notification when a button is pressed.
            try close(place)
            return .pressed(notices.remove(at: index).id, key: key)
        case ("NotificationClosed", _): return .closed(notices.remove(at: index).id)
        default: return nil
        }
    }

    private mutating func close(_ place: ServerID) throws(Failure) {
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
