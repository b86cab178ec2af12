import BLERuntime
import BLEWire
import Logging

extension World {
    /// The recent events of the world as text, for failing tests: the seed, the age of the world, the calls and
    /// callbacks of each app, and the last decoded packets between hosts and controllers.
    ///
    /// Each manager has a number, which tells several managers of an app apart; all managers of the world are numbered
    /// together. Calls and callbacks have the names that they have in Core Bluetooth. Devices appear with their
    /// identifiers and names, attributes with their UUIDs. So two runs with the same seed have the same story. If no
    /// app has created a manager, the story says so.
    ///
    /// ```swift
    /// #expect(reader.values.count == 3, "\(world.story)")
    /// ```
    public var story: String {
        withCore { core in
            let names = core.stations.map { station in (station.name, station.apps.map(\.name)) }
            let heading =
                "A world with seed \(core.seed), after \(core.now - .init())" + (core.hasHadApps ? "" : Self.empty)
            return core.story.text(heading) { machine, app in
                let (name, apps) = names[machine]
                guard let app, apps[app] != AppRecord.standardName else { return name }
                return "\(name)/\(apps[app])"
            }
        }
    }

    private static let empty = """

        No app has created a Bluetooth manager in this world. A manager belongs to a world if it is created within \
        `machine.inhabit { }`, or anywhere in the process after `machine.inhabitProcessWide()`.
        """

    /// The last thousand packets between hosts and controllers, as a `.pcapng` file for Wireshark.
    ///
    /// The packets contain pairing keys.
    ///
    /// Failing tests can attach the packets along with the ``story``. `World(seed:capture:)` records all packets.
    public var lastPackets: [UInt8] { core.withLock { $0.story.capture } }

    /// The reason why a world's packets cannot be recorded.
    public struct CaptureFailure: Error, Hashable, Sendable, CustomStringConvertible {
        /// A description with the file's name.
        public let description: String
    }

    /// Creates an empty world whose packets are recorded, with calls and callbacks of apps as comments.
    ///
    /// - Parameters:
    ///   - seed: The seed of all random choices.
    ///   - conditions: The conditions of the radio channel.
    ///   - capture: The path of a file that ends in `.pcapng`, for Wireshark, or in `.btsnoop`. The file contains the
    ///     keys of pairings.
    /// - Throws: The reason why the file cannot be created.
    public convenience init(seed: UInt64, conditions: Conditions = Conditions(), capture: String) throws(CaptureFailure)
    {
        let file: CaptureFile
        do {
            file = try CaptureFile(path: capture) { Logger.coreBluetooth.error("\($0) No more packets are recorded.") }
        } catch {
            throw CaptureFailure(description: "\(error)")
        }
        self.init(seed: seed, conditions: conditions)
        core.withLock { $0.capture = file }
    }
}
