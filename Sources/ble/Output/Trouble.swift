import ArgumentParser
import CoreBluetooth

/// Why a command could not do what it was asked for, in words that name the cure.
enum Trouble: Error, CustomStringConvertible {
    case noRadio(CBManagerState)
    case notFound(String, within: Duration)
    case noAnswer(to: String, within: Duration)
    case noCharacteristic(String, of: String)
    case failed(String, (any Error)?)
    case readsFailed(Int, of: Int)
    case disconnected(String, (any Error)?)
    case endedEarly(received: Int, of: Int)
    case unusableFile(String, String)
    case unusablePort(UInt16, String)

    var description: String {
        switch self {
        case .noRadio(.poweredOff): "The radio is off. Switch it on, and try again."
        case .noRadio(.unauthorized): "This user may not use the radio."
        case .noRadio:
            """
            There is no radio to talk to. Set BLUETOOTH_HOST to a controller (tcp:HOST:PORT or unix:PATH), \
            to a simulated world (world:FILE.json), or to “demo”.
            """
        case .notFound(let peer, let time):
            "“\(peer)” was not seen within \(time.seconds) s. Is it on and advertising? “ble scan” shows who is."
        case .noAnswer(let what, let time): "\(what) did not happen within \(time.seconds) s."
        case .noCharacteristic(let uuid, let peer):
            "\(peer) has no characteristic \(uuid). “ble inspect” shows those that it has."
        case .failed(let what, let error): "\(what) failed: \(error.map(Self.describe) ?? "no reason was given")."
        case .readsFailed(let failed, let count): "\(failed) of \(count) reads failed."
        case .disconnected(let peer, let error):
            "\(peer) disconnected\(error.map { ": " + Self.describe($0) } ?? "")."
        case .endedEarly(let received, let count):
            "The channel was closed when \(received) of \(count) octets had come in."
        case .unusableFile(let path, let reason): "\(path) cannot be used: \(reason)"
        case .unusablePort(let port, let reason):
            "Port \(port) cannot be listened at: \(reason). Choose another --port."
        }
    }

    /// The process's exit status: those of sysexits.h, and 1 for what the peer refused.
    var exitCode: ExitCode {
        switch self {
        case .noRadio: ExitCode(69)
        case .notFound, .noAnswer: ExitCode(75)
        case .unusableFile, .unusablePort: ExitCode(66)
        case .noCharacteristic, .failed, .readsFailed, .disconnected, .endedEarly: .failure
        }
    }

    private static func describe(_ error: any Error) -> String {
        let error = error as NSError
        return "\(error.localizedDescription) (\(error.domain) \(error.code))"
    }
}

extension Duration {
    /// For people: seconds with as many digits as they need.
    var seconds: String {
        let value = self / .seconds(1)
        return value == value.rounded() ? String(Int(value)) : String(value)
    }
}

/// Runs a command's work, and turns trouble into a sentence on standard error and an exit status.
@MainActor
func reportingTrouble(_ work: @MainActor () async throws -> Void) async throws {
    do {
        try await work()
    } catch let trouble as Trouble {
        FileHandle.standardError.write(Data("ble: \(trouble)\n".utf8))
        throw trouble.exitCode
    }
}
