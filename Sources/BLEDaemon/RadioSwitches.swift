import BLERuntime
import BLESession
import Logging

/// The list of radios that are switched off, which is preserved across restarts of the daemon.
struct RadioSwitches {
    private let radios: Radios
    private let file: PrivateFile?
    /// The names of the radios that are off, including radios that the daemon does not have at the moment.
    private var off: [String]

    /// Switches off the radios named in the file at `path`, one name per line.
    ///
    /// All radios stay on if there is no such file, or it cannot be read.
    init(_ radios: Radios, keptAt path: String?) {
        self.radios = radios
        file = path.map { PrivateFile(path: $0, mostOctets: 65_536) }
        do throws(FileProblem) {
            off = String(decoding: try file?.read() ?? [], as: UTF8.self).split(separator: "\n").map(String.init)
        } catch {
            Logger.coreBluetooth.error("Cannot read which radios are off, so all are switched on. \(error)")
            off = []
        }
        for name in radios.names where off.contains(name) { _ = radios.switchBluetooth(on: false, name) }
    }

    var facts: [RadioInfo] { radios.names.map { RadioInfo(name: $0, isOn: !off.contains($0)) } }

    /// Switches one radio on or off, or all if `name` is `nil`; returns the names of the switched radios.
    mutating func turn(on isOn: Bool, _ name: String?) -> [String] {
        let switched = radios.names.filter { [$0, nil].contains(name) && radios.switchBluetooth(on: isOn, $0) }
        off.removeAll { switched.contains($0) }
        if !isOn { off += switched }
        save()
        return switched
    }

    private func save() {
        guard let file else { return }
        do throws(FileProblem) {
            let octets = Array(off.map { $0 + "\n" }.joined().utf8)
            try file.locked { () throws(FileProblem) in try file.replace(with: octets) }
        } catch {
            Logger.coreBluetooth.error("Radios that are off now will be on after a restart of the daemon. \(error)")
        }
    }
}
