import Glibc

/// The names of programs in captures and monitors.
package enum ProgramName {
    /// The name and process number of this program.
    package static let own: String = {
        let path = SystemFile.target(of: "/proc/self/exe") ?? ""
        return "\(path.split(separator: "/").last ?? "program") \(getpid())"
    }()
}
