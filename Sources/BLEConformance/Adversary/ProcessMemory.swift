import Foundation

/// The memory use of this process, as Linux reports it.
enum ProcessMemory {
    /// The maximum resident size in octets; `nil` if the system does not report it.
    ///
    /// Linux reports it in kibibytes, in the field `VmHWM` of proc_pid_status(5).
    static var peak: Int? {
        guard let status = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8) else { return nil }
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
        return line.flatMap { Int($0.filter(\.isNumber)) }.map { $0 << 10 }
    }
}
