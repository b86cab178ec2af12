import ArgumentParser
import BLERuntime
import CoreBluetooth

/// The reason why a command failed.
///
/// Its message says what the user can do.
enum CommandError: Error, CustomStringConvertible {
    case noRadio(CBManagerState)
    case radioLost
    case cancelled
    case noController(String, String, cure: String?)
    /// The adapters of this machine cannot be listed.
    case noAdapters(TransportError)
    case invalidHost(HostSpecification.Malformed)
    case noDaemon(String)
    /// A question to the daemon failed, although its socket exists.
    case daemonFailed(TransportError)
    case daemonRefused(String)
    /// This process may not send a signal to the app with this process ID.
    case cannotQuit(UInt32, String)
    case noDesktop(String)
    /// No peripheral with this name was found in this time; `seen` has the names of the other peripherals.
    case notFound(String, within: Duration, seen: [String])
    /// No chat room with this name was found in this time; `seen` has the names of the other rooms.
    case noRoom(String, within: Duration, seen: [String])
    /// The text is a prefix of the names of several peripherals; the list contains these names.
    case ambiguous(String, [String])
    case noAnswer(to: String, within: Duration)
    case noCharacteristic(String, of: String)
    /// The peripheral has no characteristic with the PSM of a channel.
    case noPSM(String)
    case noBond(String)
    /// No app has a link to this peer or, if the value is `nil`, to any peer.
    case noLink(String?)
    case cannotWrite(String, String)
    case failed(String, (any Error)?)
    case readsFailed(Int, of: Int)
    case disconnected(String, (any Error)?)
    case endedEarly(received: Int, of: Int)
    case unsent(after: Int, because: String?)
    /// The file cannot be used; the reason has no full stop at its end.
    case unusableFile(String, String)
    case unusablePort(UInt16, String)
    case cannotListen(String, String)
    case unwritableOutput(StandardStream.Failure)

    var description: String {
        switch self {
        case .noRadio(.poweredOff):
            """
            The radio is off. Switch it on with “ble power on” if it is the daemon's, otherwise with “rfkill unblock \
            bluetooth”, and try again.
            """
        case .noRadio(.unauthorized):
            "This program is not allowed to use the radio. With a daemon, “ble policy” shows what it may do."
        case .noRadio:
            """
            No usable radio; “ble doctor” finds the cause. To try ble without a radio, set \
            BLUETOOTH_HOST=demo. BLUETOOTH_HOST can also name an adapter of this machine (hci:0), a controller \
            (serial:PATH@RATE, tcp:HOST:PORT or unix:PATH), the daemon (bled) or a simulated world (world:FILE.json).
            """
        case .noController(let place, let reason, let cure):
            "No controller at \(place) (\(reason)).\(cure.asNextSentence)"
        case .noAdapters(let error): "\(error.sentence)\(error.cure.asNextSentence)"
        case .invalidHost(let error): "\(HostSpecification.variable) is invalid. \(error)"
        case .noDaemon(let reason):
            """
            No Bluetooth daemon (\(reason)). Start one with “bled”, or name the socket of a running one with \
            BLUETOOTH_HOST=bled:PATH.
            """
        case .daemonFailed(let error): "\(error.sentence)\(error.cure.asNextSentence)"
        case .daemonRefused(let sentence): "The daemon refused: \(sentence)."
        case .cannotQuit(let process, let reason):
            "Cannot quit process \(process): \(reason). Run this command as root or as the user that runs the process."
        case .noDesktop(let reason):
            "Cannot use desktop notifications: \(reason). Leave out --desktop to use the terminal."
        case .cancelled: "The command was cancelled."
        case .radioLost: "The radio was lost, and with it the connection."
        case .notFound(let peer, let time, []):
            """
            No device “\(peer)” found within \(time.seconds) s, nor any other named device. Is it on and \
            advertising?
            """
        case .notFound(let peer, let time, let seen):
            """
            No device “\(peer)” found within \(time.seconds) s, only \(Self.list(seen)). Is it on and advertising?
            """
        case .noRoom(let room, let time, let seen):
            "No room “\(room)” found within \(time.seconds) s\(seen.isEmpty ? "" : ", only \(Self.list(seen))")."
        case .ambiguous(let peer, let names):
            "“\(peer)” matches several devices: \(Self.list(names)). Use a longer part of the name, or the identifier."
        case .noAnswer(let what, let time): "\(what) timed out after \(time.seconds) s."
        case .noCharacteristic(let uuid, let peer):
            "\(peer) has no characteristic \(uuid). “ble inspect” lists its characteristics."
        case .noPSM(let peer): "\(peer) does not publish the PSM of a channel. Name it with --psm."
        case .noBond(let peer): "No bond with \(peer). “ble bonds” lists all bonds."
        case .noLink(let peer?): "No app has a link to \(peer). “ble links” lists all links."
        case .noLink(nil): "No app has a link."
        case .cannotWrite(let uuid, let reason): "\(uuid) was not written: \(reason). Leave out --without-response."
        case .failed(let what, let error): "\(what) failed: \(error.map(Self.describe) ?? "unknown reason")."
        case .readsFailed(let failed, let count): "\(failed) of \(count.withNoun("read")) failed."
        case .disconnected(let peer, let error):
            "\(peer) disconnected\(error.map { ": " + Self.describe($0) } ?? "")."
        case .endedEarly(let received, let count):
            "The channel was closed after \(received) of \(count.withNoun("octet")) had been received."
        case .unsent(let sent, let reason):
            "Not all data was sent: the channel ended after \(sent.withNoun("octet")).\(reason.asNextSentence)"
        case .unusableFile(let path, let reason): "\(path) cannot be used: \(reason)\(reason.hasSuffix(".") ? "" : ".")"
        case .unusablePort(let port, let reason):
            "Cannot listen on port \(port): \(reason). Choose another port."
        case .cannotListen(let address, let reason):
            "Cannot listen on \(address): \(reason). Choose another --port or --listen."
        case .unwritableOutput(let failure): "\(failure)."
        }
    }

    /// The exit status of the process: a code of sysexits.h, or 1 if none of these fits.
    var exitCode: ExitCode {
        switch self {
        case .noRadio, .radioLost, .noController, .noAdapters, .invalidHost, .noDaemon, .daemonFailed, .noDesktop:
            ExitCode(69)
        case .notFound, .noRoom, .noAnswer: ExitCode(75)
        case .failed(_, let error as CBError), .disconnected(_, let error as CBError):
            error.code == .connectionTimeout ? ExitCode(75) : .failure
        case .ambiguous: ExitCode(64)
        case .unusableFile, .unusablePort, .cannotListen: ExitCode(66)
        case .unwritableOutput: ExitCode(74)
        case .cancelled, .noCharacteristic, .noPSM, .noBond, .noLink, .cannotWrite, .failed, .readsFailed,
            .disconnected, .endedEarly, .unsent, .daemonRefused, .cannotQuit:
            .failure
        }
    }

    /// Returns the first 8 names as text, followed by the number of the other names, if any.
    static func list(_ names: [String]) -> String {
        let shown = names.prefix(8).map { "“\($0.printable)”" }.joined(separator: ", ")
        return names.count > 8 ? shown + " and \(names.count - 8) more" : shown
    }

    /// Writes the message to standard error.
    ///
    /// Ignores errors, for example if standard error has no reader.
    func report() { try? StandardStream.error.write(line: "ble: \(self)") }

    /// Returns the description of an error, usually from Core Bluetooth: a sentence with domain and code but without a
    /// full stop.
    static func describe(_ error: any Error) -> String {
        let error = error as NSError, sentence = error.localizedDescription
        return "\(sentence.hasSuffix(".") ? sentence.dropLast() : sentence[...]) (\(error.domain) \(error.code))"
    }
}

extension Duration {
    /// The duration in seconds, with as many digits as needed, in text for users.
    var seconds: String {
        let value = self / .seconds(1)
        return value == value.rounded() ? String(Int(value)) : String(value)
    }
}

/// Runs the work of a command.
///
/// If `work` throws a `CommandError`, writes the error's message to standard error, and throws its exit code.
@MainActor
func reportingErrors(_ work: @MainActor () async throws -> Void) async throws {
    do {
        try await work()
    } catch let trouble as CommandError {
        trouble.report()
        throw trouble.exitCode
    }
}
