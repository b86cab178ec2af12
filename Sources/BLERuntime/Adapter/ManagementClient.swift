package import BLEWire
import Glibc

/// A blocking client of the kernel's management protocol.
package struct ManagementClient: Sendable {
    /// The failure of a request.
    package enum Failure: Error, Equatable, Sendable, CustomStringConvertible {
        /// The kernel rejected the request.
        case refused(Management.Status)
        case system(SystemFailure)
        /// The response did not arrive in time.
        case silent
        case malformed(PacketError)

        package var description: String {
            switch self {
            case .refused(let status): "the kernel refused the request (\(status))"
            case .system(let failure): String(cString: strerror(failure.errno))
            case .silent: "the kernel did not answer"
            case .malformed(let error): "the kernel sent an invalid reply (\(error))"
            }
        }
    }

    /// The maximum time to wait for a response.
    ///
    /// Some commands make the kernel itself wait two seconds for the adapter.
    package static let timeout = Duration.seconds(8)

    private let descriptor: FileDescriptor
    private let timeout: Duration

    /// Creates a client on a socket from ``AdapterKernel/openManagement()``.
    package init(_ descriptor: FileDescriptor, timeout: Duration = timeout) {
        self.descriptor = descriptor
        self.timeout = timeout
    }

    /// Returns the adapters that are not in exclusive use.
    package func controllers() throws(Failure) -> [Management.ControllerEntry] {
        let answer = try perform(.readExtendedIndexList, on: .none)
        return try decoding { () throws(PacketError) in
            try Management.ExtendedIndexList(decoding: answer).controllers
        }
    }

    /// Returns the properties and current settings of an adapter.
    package func information(about index: AdapterIndex) throws(Failure) -> Management.Information {
        let answer = try perform(.readInformation, on: index)
        return try decoding { () throws(PacketError) in try Management.Information(decoding: answer) }
    }

    /// Powers an adapter on or off, and waits until the kernel has done so.
    package func setPowered(_ isPowered: Bool, _ index: AdapterIndex) throws(Failure) {
        _ = try perform(.setPowered, on: index, parameters: Management.SetPowered(isPowered).encoded)
    }

    private func decoding<Value>(_ body: () throws(PacketError) -> Value) throws(Failure) -> Value {
        do { return try body() } catch { throw .malformed(error) }
    }

    /// Sends a command, waits for the response, and returns the parameters of the response.
    private func perform(
        _ opcode: Management.Opcode,
        on index: AdapterIndex,
        parameters: [UInt8] = []
    ) throws(Failure) -> [UInt8] {
        let command = Management.command(opcode, on: index, parameters: parameters)
        // When the kernel refuses a command, it still consumes it, and `send` returns 0.
        guard send(descriptor.raw, command, command.count, Int32(MSG_NOSIGNAL)) >= 0 else {
            throw .system(SystemFailure(errno: errno))
        }
        let clock = MonotonicClock()
        var buffer = [UInt8](repeating: 0, count: Int(UInt16.max) + Management.Header.size)
        while true {
            let left = timeout / .milliseconds(1) - Double(clock.now.nanoseconds) / 1_000_000
            guard left > 0 else { throw .silent }
            var wanted = pollfd(fd: descriptor.raw, events: Int16(POLLIN), revents: 0)
            guard poll(&wanted, 1, Int32(left) + 1) > 0 else { continue }
            let count = recv(descriptor.raw, &buffer, buffer.count, 0)
            if count < 0, errno == EAGAIN || errno == EINTR { continue }
            guard count > 0 else { throw .system(SystemFailure(errno: count < 0 ? errno : EPIPE)) }
            if let answer = try answer(to: opcode, on: index, in: Array(buffer[..<count])) { return answer }
        }
    }

    /// Returns the parameters of a packet if it is the response to the command `opcode` for the adapter `index`; `nil`
    /// if it is any other packet.
    private func answer(
        to opcode: Management.Opcode,
        on index: AdapterIndex,
        in octets: [UInt8]
    ) throws(Failure) -> [UInt8]? {
        let event = try decoding { () throws(PacketError) in try ManagementEvent(decoding: octets) }
        guard event.index == index else { return nil }
        switch event.body {
        case .commandComplete(let answer) where answer.opcode == opcode:
            guard answer.status == .success else { throw .refused(answer.status) }
            return answer.parameters
        case .commandStatus(let answer) where answer.opcode == opcode: throw .refused(answer.status)
        case .commandComplete, .commandStatus, .indexAdded, .indexRemoved, .newSettings, .extendedIndexAdded,
            .extendedIndexRemoved, .unknown:
            return nil
        }
    }
}
