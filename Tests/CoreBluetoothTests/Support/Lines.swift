import BLERuntime
import Testing

@testable import CoreBluetooth

/// What managers complain of.
final class Lines: Sendable {
    private let lines = Locked<[String]>([])

    /// The lines since the last call.
    func take() -> [String] {
        lines.withLock { lines in
            defer { lines = [] }
            return lines
        }
    }

    /// Runs `body`; managers that it creates talk to `link` and complain here.
    func collect<Result>(_ link: some HostLink, _ body: () throws -> Result) rethrows -> Result {
        try Misuse.$sink.withValue({ line in self.lines.withLock { $0.append(line) } }) {
            try Bluetooth.$link.withValue(link, operation: body)
        }
    }
}

/// What a process that ended said on its standard error.
func complaint(_ result: ExitTest.Result?) -> String {
    String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
}

/// What a delegate was told about an error, short enough for a list of calls.
func brief(_ error: (any Error)?) -> String {
    switch error {
    case nil: "ok"
    case let error as CBError: "CBError \(error.errorCode)"
    case let error as CBATTError: "CBATTError \(error.errorCode)"
    case let error?: "\(error)"
    }
}
