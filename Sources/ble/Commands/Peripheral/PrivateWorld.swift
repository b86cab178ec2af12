import BLERuntime
import Foundation

/// The simulated world of this process, which no other process can join.
enum PrivateWorld {
    /// Returns a remark for users who serve a peripheral in a world inside this process, where no other program can
    /// connect to it.
    ///
    /// Returns `nil` if other programs can connect.
    static func remark(host: String? = HostSpecification.ofProcess) -> String? {
        switch host.flatMap({ try? HostSpecification($0) }) {
        case .demo, .world:
            """
            \(HostSpecification.variable)=\(host ?? "") is a world inside this process: other programs cannot join it. \
            For two programs, run “ble radio --port 7001 --port 7002”, and set \(HostSpecification.variable) to \
            tcp:127.0.0.1:7001 for one and to tcp:127.0.0.1:7002 for the other.
            """
        case .adapter, .serial, .socket, .daemon, nil: nil
        }
    }
}
