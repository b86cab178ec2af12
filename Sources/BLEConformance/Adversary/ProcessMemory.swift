import Foundation

/// The memory of this process as reported by Linux.
enum ProcessMemory {
    /// The maximum resident size in octets; `nil` if the system does not report it.
    ///
    /// The field `VmHWM`, in kibibytes, of proc_pid_status(5).
    static var peak: Int? {
        guard let status = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8) else { return nil }
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
        return line.flatMap { Int($0.filter(\.isNumber)) }.map { $0 << 10 }
    }
}
