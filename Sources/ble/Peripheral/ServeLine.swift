import BLERuntime
import CoreBluetooth

/// A request to `ble serve` in a line of standard input.
enum ServeLine: Equatable {
    /// An answer to a pairing prompt.
    case answer(String)
    case add(path: String)
    case remove(CBUUID)
    case change(CBUUID, to: String)

    /// The maximum number of leading words that are tried as an assigned name; every assigned name has fewer.
    private static let mostWords = 12

    /// Parses a line; `nil` if it is not a request.
    init?(_ line: String) {
        let words = line.split(separator: " ", omittingEmptySubsequences: false)
        func rest(after count: Int) -> String { words.dropFirst(count).joined(separator: " ") }
        guard let first = words.first, words.count > 1, !rest(after: 1).isEmpty else { return nil }
        switch first {
        case "pair": self = .answer(rest(after: 1))
        case "add": self = .add(path: rest(after: 1))
        case "remove":
            guard let service = UUIDArgument(rest(after: 1), of: .service) else { return nil }
            self = .remove(service.uuid)
        default:
            // A name may have several words, and may begin with another name, so the longest match counts.
            for count in (1...min(words.count - 1, Self.mostWords)).reversed() {
                let name = words.prefix(count).joined(separator: " ")
                guard let characteristic = UUIDArgument(name, of: .characteristic) else { continue }
                self = .change(characteristic.uuid, to: rest(after: count))
                return
            }
            return nil
        }
    }
}
