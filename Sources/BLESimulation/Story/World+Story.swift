import BLERuntime
import BLEWire
import Logging

extension World {
    /// What happened in the world lately, to be printed or attached by a test that fails: the seed, how old the world
    /// is, what each app has asked for and heard, and the last packets between hosts and controllers, taken apart.
    ///
    /// Of an app several managers are told apart by a number, which counts all managers of the world. Calls and
    /// callbacks have Core Bluetooth's names, devices their identifier and name, and attributes their UUIDs: two runs
    /// with the same seed have the same story. If no app has made a manager, the story says so.
    ///
    /// ```swift
    /// #expect(reader.values.count == 3, "\(world.story)")
    /// ```
    public var story: String {
        core.withLock { core in
            let names = core.stations.map { station in (station.name, station.apps.map(\.name)) }
            let heading =
                "A world with seed \(core.seed), \(core.now - .init()) old" + (core.hasHadApps ? "" : Self.empty)
            return core.story.text(heading) { machine, app in
                let (name, apps) = names[machine]
                guard let app, apps[app] != AppRecord.standardName else { return name }
                return "\(name)/\(apps[app])"
            }
        }
    }

    private static let empty = """

        No app has made a Bluetooth manager in this world. A manager belongs to a world if it is made within \
        `machine.inhabit { }`, or anywhere in the process after `machine.inhabitProcessWide()`.
        """

    /// The last thousand packets between hosts and controllers, as the octets of a `.pcapng` for Wireshark; they hold
    /// the keys of pairings.
    ///
    /// A test that fails attaches them beside the ``story``; `World(seed:capture:)` keeps all packets.
    public var lastPackets: [UInt8] { core.withLock { $0.story.capture } }

    /// Why a world's packets cannot be written down.
    public struct CaptureFailure: Error, Hashable, Sendable, CustomStringConvertible {
        /// What happened, to which file.
        public let description: String
    }

    /// Creates an empty world whose packets are written down, with what apps ask for and hear as comments.
    ///
    /// - Parameters:
    ///   - seed: What every random choice follows from.
    ///   - conditions: What the air does.
    ///   - capture: The path of a file whose name ends in `.pcapng`, for Wireshark, or in `.btsnoop`. It holds the keys
    ///     of pairings.
    /// - Throws: Why the file cannot be made.
    public convenience init(seed: UInt64, conditions: Conditions = Conditions(), capture: String) throws(CaptureFailure)
    {
        let file: CaptureFile
        do {
            file = try CaptureFile(path: capture) { Logger.coreBluetooth.error("\($0) The capture ends.") }
        } catch {
            throw CaptureFailure(description: "\(error)")
        }
        self.init(seed: seed, conditions: conditions)
        core.withLock { $0.capture = file }
    }
}
