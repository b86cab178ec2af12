import BLERuntime
import DBus
import Foundation

/// A connection to the desktop's notification server: it shows notifications, and reports the buttons that the user
/// presses.
@MainActor
final class DesktopNotifications {
    private enum State {
        /// The notification server has not responded yet; a task may wait for its response.
        case opening(CheckedContinuation<Void, Never>?)
        case ready
        case lost(CommandError)
        case closed
    }

    /// The time limit for the notification server to start and respond.
    private static let replyTimeout = Duration.seconds(25)

    /// Called when notifications can no longer be shown; called immediately if that is already the case.
    var onLoss: (CommandError) -> Void = { _ in } {
        didSet { if case .lost(let trouble) = state { onLoss(trouble) } }
    }

    private let send: ([UInt8]) -> Void
    private var board: NotificationConversation
    private var state = State.opening(nil)
    private var answers: [(id: NotificationConversation.ID, handler: (String?) -> Void)] = []
    private var connection: BusConnection?

    /// Starts a session on the bus, as the user with the ID `user`.
    ///
    /// `send` is called with octets for the bus.
    init(user: UInt32, send: @escaping ([UInt8]) -> Void) throws(NotificationConversation.Failure) {
        board = try NotificationConversation(user: user)
        self.send = send
        send(board.takeOctets())
    }

    /// Connects to the session bus; returns when notifications can be shown.
    static func open() async throws(CommandError) -> DesktopNotifications {
        let link = Link()
        do {
            let places = try BusAddress.ofSession { ProcessInfo.processInfo.environment[$0] }
            let connection = try BusConnection(to: places) { octets in
                link.desktop?.receive(octets)
            } ended: { error in
                link.desktop?.lose(.noDesktop("the connection to the session bus was lost (\(error))"))
            }
            let desktop = try DesktopNotifications(user: geteuid()) { connection.send($0) }
            desktop.connection = connection
            link.desktop = desktop
            try await desktop.opened()
            return desktop
        } catch let trouble as CommandError {
            throw trouble
        } catch BusAddress.Mistake.missing {
            throw .noDesktop("\(BusAddress.Mistake.missing)")
        } catch let mistake as BusAddress.Mistake {
            throw .noDesktop("DBUS_SESSION_BUS_ADDRESS is invalid (\(mistake))")
        } catch let error as TransportError {
            throw .noDesktop("cannot connect to the session bus (\(error))")
        } catch {
            throw .noDesktop("\(error)")
        }
    }

    /// A reference from the connection's event handlers to the notifications, which are created after the handlers.
    @MainActor private final class Link { weak var desktop: DesktopNotifications? }

    /// Waits until notifications can be shown.
    ///
    /// Throws an error if that takes longer than ``replyTimeout``.
    private func opened() async throws(CommandError) {
        let timer = Task {
            try await Task.sleep(for: Self.replyTimeout)
            lose(.noDesktop("the notification service did not answer within \(Self.replyTimeout.seconds) s"))
        }
        await withCheckedContinuation { continuation in
            if case .opening = state { state = .opening(continuation) } else { continuation.resume() }
        }
        timer.cancel()
        if case .lost(let trouble) = state { throw trouble }
    }

    /// Shows a notification without buttons.
    func tell(_ summary: String, _ body: String) {
        work { board throws(NotificationConversation.Failure) in
            _ = try board.show(DesktopNotification(summary: summary, body: body))
        }
    }

    /// Shows a notification with buttons.
    ///
    /// - Parameters:
    ///   - notice: The notification.
    ///   - answered: Called once with the key of the pressed button, or `nil` if the notification was closed; not
    ///     called if the notification is withdrawn.
    /// - Returns: The notification's identifier; `nil` if it is not shown because too many are on the screen.
    func ask(_ notice: DesktopNotification, answered: @escaping (String?) -> Void) -> NotificationConversation.ID? {
        var id: NotificationConversation.ID?
        work { board throws(NotificationConversation.Failure) in id = try board.show(notice) }
        if let id { answers.append((id, answered)) }
        return id
    }

    /// Closes a notification that no longer needs an answer, without calling the closure `answered`.
    func withdraw(_ id: NotificationConversation.ID) {
        answers.removeAll { $0.id == id }
        work { board throws(NotificationConversation.Failure) in try board.withdraw(id) }
    }

    /// Closes all notifications with buttons, and the connection.
    ///
    /// A notification stays open if the server does not report its identifier within one second.
    func close() async {
        guard case .ready = state else { return }
        answers = []
        work { board throws(NotificationConversation.Failure) in try board.withdrawAll() }
        for _ in 0..<100 where !board.isEmpty { try? await Task.sleep(for: .milliseconds(10)) }
        state = .closed
        connection?.close()
    }

    /// Processes octets from the bus, and calls the `answered` closures of answered notifications.
    func receive(_ octets: [UInt8]) {
        var events: [NotificationConversation.Event] = []
        work { board throws(NotificationConversation.Failure) in events = try board.receive(octets) }
        for event in events {
            switch event {
            case .ready:
                guard case .opening(let waiting) = state else { continue }
                state = .ready
                waiting?.resume()
            case .pressed(let id, let key): answer(id, key)
            case .closed(let id): answer(id, nil)
            }
        }
    }

    private func answer(_ id: NotificationConversation.ID, _ key: String?) {
        guard let index = answers.firstIndex(where: { $0.id == id }) else { return }
        answers.remove(at: index).handler(key)
    }

    /// Runs `body` with the state of the notifications, and sends the octets that it produces.
    ///
    /// If `body` throws an error, notifications can no longer be shown. After that, or after ``close()``, does nothing.
    private func work(_ body: (inout NotificationConversation) throws(NotificationConversation.Failure) -> Void) {
        switch state {
        case .lost, .closed: return
        case .opening, .ready: break
        }
        do throws(NotificationConversation.Failure) {
            try body(&board)
            let octets = board.takeOctets()
            if !octets.isEmpty { send(octets) }
        } catch {
            lose(.noDesktop("\(error)"))
        }
    }

    /// Records that notifications can no longer be shown.
    private func lose(_ trouble: CommandError) {
        switch state {
        case .opening(let waiting):
            state = .lost(trouble)
            waiting?.resume()
        case .ready:
            state = .lost(trouble)
            onLoss(trouble)
        case .lost, .closed: return
        }
        answers = []
    }
}
