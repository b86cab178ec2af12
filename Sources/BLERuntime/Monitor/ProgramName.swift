import Glibc

/// The name under which this program appears in captures and monitors.
package enum ProgramName {
    /// The file name and process number of this program.
    package static let own: String = {
        let path = SystemFile.target(of: "/proc/self/exe") ?? ""
        return "\(path.split(separator: "/").last ?? "program") \(getpid())"
    }()
}
