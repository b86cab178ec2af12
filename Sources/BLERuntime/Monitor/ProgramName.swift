import Glibc

/// What programs are called in captures and to those who watch.
package enum ProgramName {
    /// The name of this program, and the number of its process.
    package static let own: String = {
        let path = SystemFile.target(of: "/proc/self/exe") ?? ""
        return "\(path.split(separator: "/").last ?? "program") \(getpid())"
    }()
}
