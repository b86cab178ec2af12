import BLERuntime
import Foundation

/// The simulated world that belongs to this process alone, if any.
enum PrivateWorld {
    /// Returns a note for users of a peripheral that nothing outside this process can connect to it; `nil` if something
    /// can.
    static func remark(host: String? = HostSpecification.ofProcess) -> String? {
        switch host.flatMap({ try? HostSpecification($0) }) {
        case .demo, .world:
            """
            \(HostSpecification.variable)=\(host ?? "") is a world inside this process: other programs cannot join it. \
            For two programs, run “ble radio --port 7001 --port 7002”, and use tcp:127.0.0.1:7001 and \
            tcp:127.0.0.1:7002.
            """
        case .adapter, .serial, .socket, .daemon, nil: nil
        }
    }
}
