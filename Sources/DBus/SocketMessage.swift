package import BLERuntime
import Glibc

/// Octets on a Unix socket that come with file descriptors; unix(7), cmsg(3).
package enum SocketMessage {
    /// The maximum number of descriptors that the kernel passes with one message, SCM_MAX_FD.
    package static let descriptorLimit = 253

    /// The size of the header of a control message; the data follow immediately.
    private static let header = MemoryLayout<cmsghdr>.size
    private static let numberSize = MemoryLayout<Int32>.size

    /// Writes octets to a socket, and passes a descriptor with the first octet; does not wait.
    ///
    /// - Returns: The number of octets that were written; -1 with an error number in `errno`.
    package static func send(_ octets: ArraySlice<UInt8>, passing passed: FileDescriptor, to socket: Int32) -> Int {
        let size = header + numberSize
        var control = [UInt64](repeating: 0, count: words(size)), octets = Array(octets)
        return control.withUnsafeMutableBytes { control in
            var facts = cmsghdr()
            (facts.cmsg_len, facts.cmsg_level, facts.cmsg_type) = (size, SOL_SOCKET, Int32(SCM_RIGHTS))
            control.storeBytes(of: facts, as: cmsghdr.self)
            control.storeBytes(of: passed.raw, toByteOffset: header, as: Int32.self)
            return octets.withUnsafeMutableBytes { octets in
                withMessage(octets, control) { sendmsg(socket, $0, Int32(MSG_NOSIGNAL | MSG_DONTWAIT)) }
            }
        }
    }

    /// Reads octets and the descriptors that come with them; does not wait.
    ///
    /// The descriptors are close-on-exec. Those beyond the process's limit of open files are lost.
    ///
    /// - Returns: The number of octets that were read, 0 at the end of the stream; -1 with an error number in `errno`.
    package static func receive(
        into buffer: inout [UInt8],
        from socket: Int32
    ) -> (count: Int, descriptors: [FileDescriptor]) {
        var control = [UInt64](repeating: 0, count: words(header + descriptorLimit * numberSize))
        return control.withUnsafeMutableBytes { control in
            buffer.withUnsafeMutableBytes { octets in
                withMessage(octets, control) { message in
                    let count = recvmsg(socket, message, Int32(MSG_DONTWAIT | MSG_CMSG_CLOEXEC))
                    guard count >= 0 else { return (count, []) }
                    let used = UnsafeRawBufferPointer(rebasing: control.prefix(message.pointee.msg_controllen))
                    return (count, descriptors(in: used))
                }
            }
        }
    }

    /// Returns the number of words of 8 octets that hold this number of octets.
    private static func words(_ octets: Int) -> Int { (octets + 7) / 8 }

    private static func withMessage<Result>(
        _ octets: UnsafeMutableRawBufferPointer,
        _ control: UnsafeMutableRawBufferPointer,
        _ body: (UnsafeMutablePointer<msghdr>) -> Result
    ) -> Result {
        var place = iovec(iov_base: octets.baseAddress, iov_len: octets.count)
        return withUnsafeMutablePointer(to: &place) { place in
            var message = msghdr()
            message.msg_iov = place
            message.msg_iovlen = 1
            message.msg_control = control.baseAddress
            message.msg_controllen = control.count
            return body(&message)
        }
    }

    /// Returns the descriptors in the control messages that the kernel has written.
    private static func descriptors(in control: UnsafeRawBufferPointer) -> [FileDescriptor] {
        var descriptors: [FileDescriptor] = [], position = 0
        while position + header <= control.count {
            let facts = control.loadUnaligned(fromByteOffset: position, as: cmsghdr.self)
            let end = position + Int(facts.cmsg_len)
            guard facts.cmsg_len >= header, end <= control.count else { break }
            if facts.cmsg_level == SOL_SOCKET, facts.cmsg_type == Int32(SCM_RIGHTS) {
                for offset in stride(from: position + header, through: end - numberSize, by: numberSize) {
                    descriptors.append(FileDescriptor(control.loadUnaligned(fromByteOffset: offset, as: Int32.self)))
                }
            }
            position += words(Int(facts.cmsg_len)) * 8
        }
        return descriptors
    }
}
