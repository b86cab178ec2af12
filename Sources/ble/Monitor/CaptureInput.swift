import BLERuntime
import Glibc

/// A packet capture that is read from a file or, as it arrives, from a pipe.
@MainActor
struct CaptureInput {
    private let path: String
    private let descriptor: FileDescriptor

    /// Opens a capture.
    ///
    /// - Parameters:
    ///   - path: The path of the capture.
    ///   - copies: The paths of the files that will be written. None of them may be the capture itself.
    /// - Throws: `CommandError` if the capture cannot be opened, or a copy would overwrite it.
    init(path: String, but copies: [String]) throws(CommandError) {
        let raw = open(path, O_RDONLY | O_CLOEXEC)
        guard raw >= 0 else { throw .unusableFile(path, String(cString: strerror(errno))) }
        self.path = path
        descriptor = FileDescriptor(raw)
        if SystemFile.isDirectory(path) { throw .unusableFile(path, "it is a directory") }
        for copy in copies where SystemFile.isSame(copy, path) {
            throw .unusableFile(copy, "it is the capture being read. Write to another file")
        }
    }

    /// Reads the whole capture, and calls `found` for each item.
    ///
    /// If the capture is damaged, the items before the damage are delivered first.
    ///
    /// - Throws: `CommandError` if the file is not a capture, is damaged, or contains only packets that are not HCI.
    func read(_ found: (CaptureReader.Item) -> Void) async throws(CommandError) {
        var reader = CaptureReader(), buffer = [UInt8](repeating: 0, count: 1 << 16), hasPackets = false
        do throws(CaptureReader.Failure) {
            while true {
                let count = Glibc.read(descriptor.raw, &buffer, buffer.count)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { break }
                reader.append(buffer[..<count])
                while let item = try reader.next() {
                    if case .packet = item { hasPackets = true }
                    found(item)
                }
            }
            try reader.finish()
        } catch {
            throw .unusableFile(path, "\(error)")
        }
        guard reader.skippedPackets > 0 else { return }
        let links = reader.skippedLinkNames.isEmpty ? "" : " of \(reader.skippedLinkNames.joined(separator: ", "))"
        let foreign = reader.skippedPackets.withNoun("packet") + links
        guard hasPackets else { throw .unusableFile(path, "it has \(foreign), but no HCI packets") }
        try? StandardStream.error.write(line: "Skipped \(foreign): only HCI packets can be read.")
    }
}
