import BLERuntime
import Foundation

/// Shows notifications on the desktop, and says what its user does with those that have buttons.
@MainActor
final class DesktopNotifications {
    private enum State {
        /// Who shows notifications has not answered yet, and somebody may wait for that.
        case opening(CheckedContinuation<Void, Never>?)
        case ready
        case lost(Trouble)
        case closed
    }

    /// How long whoever shows notifications has to start, and to answer.
    private static let patience = Duration.seconds(25)

    /// Called if nothing can be shown any more.
    var onLoss: (Trouble) -> Void = { _ in } {
        didSet { if case .lost(let trouble) = state { onLoss(trouble) } }
    }

    private let send: ([UInt8]) -> Void
    private var board: NoticeBoard
    private var state = State.opening(nil)
    private var answers: [(id: NoticeBoard.ID, hear: (String?) -> Void)] = []
    private var connection: BusConnection?

    /// Begins as the user with this number, on a bus to which `send` sends octets.
    init(user: UInt32, send: @escaping ([UInt8]) -> Void) throws(NoticeBoard.Failure) {
        board = try NoticeBoard(user: user)
        self.send = send
        send(board.takeOctets())
    }

    /// Connects to the bus of this session, and returns when notifications can be shown.
    static func open() async throws(Trouble) -> DesktopNotifications {
        let link = Link()
        do {
            let places = try BusAddress.ofSession { ProcessInfo.processInfo.environment[$0] }
            let connection = try BusConnection(to: places) { octets in
                link.desktop?.receive(octets)
            } ended: { error in
                link.desktop?.lose(.noDesktop("the session bus has ended the connection (\(error))"))
            }
            let desktop = try DesktopNotifications(user: geteuid()) { connection.send($0) }
            desktop.connection = connection
            link.desktop = desktop
            try await desktop.opened()
            return desktop
        } catch let trouble as Trouble {
            throw trouble
        } catch let error as TransportError {
            throw .noDesktop("there is no session bus (\(error))")
        } catch {
            throw .noDesktop("\(error)")
        }
    }

    /// Whom the connection reports to, which is made before.
    @MainActor private final class Link { weak var desktop: DesktopNotifications? }

    /// Returns when notifications can be shown.
    private func opened() async throws(Trouble) {
        let timer = Task {
            try await Task.sleep(for: Self.patience)
            lose(.noDesktop("nobody has answered within \(Self.patience.seconds) s"))
        }
        await withCheckedContinuation { continuation in
            if case .opening = state { state = .opening(continuation) } else { continuation.resume() }
        }
        timer.cancel()
        if case .lost(let trouble) = state { throw trouble }
    }

    /// Shows a notification without buttons.
    func tell(_ summary: String, _ body: String) {
        work { board throws(NoticeBoard.Failure) in
            _ = try board.show(DesktopNotice(summary: summary, body: body))
        }
    }

    /// Shows a notification with buttons.
    ///
    /// - Parameters:
    ///   - notice: What is shown.
    ///   - answered: Called once with the key of the button that was pressed, or `nil` if the notification was closed;
    ///     not if it is withdrawn.
    /// - Returns: `nil` if it is not shown, since there are many already.
    func ask(_ notice: DesktopNotice, answered: @escaping (String?) -> Void) -> NoticeBoard.ID? {
        var id: NoticeBoard.ID?
        work { board throws(NoticeBoard.Failure) in id = try board.show(notice) }
        if let id { answers.append((id, answered)) }
        return id
    }

    /// Closes a notification that needs no answer any more.
    func withdraw(_ id: NoticeBoard.ID) {
        answers.removeAll { $0.id == id }
        work { board throws(NoticeBoard.Failure) in try board.withdraw(id) }
    }

    /// Closes what is shown, if it is known within a second where that is, and the connection.
    func close() async {
        guard case .ready = state else { return }
        answers = []
        work { board throws(NoticeBoard.Failure) in try board.withdrawAll() }
        for _ in 0..<100 where !board.isEmpty { try? await Task.sleep(for: .milliseconds(10)) }
        state = .closed
        connection?.close()
    }

    /// Takes what the bus has sent.
    func receive(_ octets: [UInt8]) {
        var events: [NoticeBoard.Event] = []
        work { board throws(NoticeBoard.Failure) in events = try board.receive(octets) }
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

    private func answer(_ id: NoticeBoard.ID, _ key: String?) {
        guard let index = answers.firstIndex(where: { $0.id == id }) else { return }
        answers.remove(at: index).hear(key)
    }

    /// Does something at the board, and sends what comes of it.
    private func work(_ body: (inout NoticeBoard) throws(NoticeBoard.Failure) -> Void) {
        switch state {
        case .lost, .closed: return
        case .opening, .ready: break
        }
        do throws(NoticeBoard.Failure) {
            try body(&board)
            let octets = board.takeOctets()
            if !octets.isEmpty { send(octets) }
        } catch {
            lose(.noDesktop("\(error)"))
        }
    }

    /// Nothing can be shown any more.
    private func lose(_ trouble: Trouble) {
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
