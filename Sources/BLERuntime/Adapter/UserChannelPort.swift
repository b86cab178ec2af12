import BLEWire
import Glibc

/// A port to an adapter of this machine; the adapter is in exclusive use while the port is open.
///
/// If the adapter is powered on because BlueZ uses it, opening the port first powers it off, and closing the port
/// powers it on again.
package struct UserChannelPort: ControllerPort {
    /// The maximum number of attempts to take a busy adapter.
    private static let attempts = 30
    private static let pause = Duration.milliseconds(100)

    private let reference: AdapterReference
    private let kernel: any AdapterKernel
    private let pause: Duration

    /// Creates a port to the adapter that `reference` names.
    ///
    /// `pause` is the time between two attempts to take a busy adapter.
    package init(_ reference: AdapterReference, kernel: any AdapterKernel = LinuxKernel(), pause: Duration = pause) {
        self.reference = reference
        self.kernel = kernel
        self.pause = pause
    }

    package var name: String { reference.description }

    package func open() throws(TransportError) -> OpenPort {
        let client = ManagementClient(try kernel.management())
        let index = try resolve()
        if !kernel.isPrivileged { throw .forbidden(index, program: kernel.program) }
        if let block = kernel.block(of: index) { throw .silenced(index, block) }
        for attempt in 1... {
            do throws(Obstacle) {
                return OpenPort(try take(index, with: client), framing: PacketFraming())
            } catch {
                guard error.mayPass, attempt < Self.attempts else { throw explain(error, index) }
                usleep(UInt32(pause / .microseconds(1)))
            }
        }
        throw .missing(reference, among: kernel.indexes)
    }

    package func watch(on loop: EventLoop, changed: @escaping @Sendable () -> Void) -> (any Sendable)? {
        guard let descriptor = try? kernel.openManagement() else { return nil }
        return AdapterWatch(descriptor, on: loop, added: changed)
    }

    /// The reason why one attempt to take the adapter failed.
    private struct Obstacle: Error {
        let errno: Int32
        /// True if the adapter is only busy for a moment; another attempt may then succeed.
        let mayPass: Bool
        let problem: String
    }

    private func resolve() throws(TransportError) -> AdapterIndex {
        let named = reference == .first ? try AdapterReference.firstUsable(in: kernel) : reference
        let indexes = kernel.indexes
        let index: AdapterIndex? =
            switch named {
            case .index(let index): indexes.contains(index) ? index : nil
            case .address(let address): indexes.first { kernel.address(of: $0)?.value == address.value }
            case .first: nil
            }
        guard let index else { throw .missing(named, among: indexes) }
        return index
    }

    /// Takes exclusive control of the adapter, after powering it off if it is powered on.
    private func take(_ index: AdapterIndex, with client: ManagementClient) throws(Obstacle) -> AdapterLease {
        let wasPowered: Bool
        do throws(ManagementClient.Failure) {
            wasPowered = try client.information(about: index).current.contains(.powered)
            if wasPowered { try client.setPowered(false, index) }
        } catch {
            switch error {
            // Another program has taken the adapter, or the kernel is still setting it up; the error of `bind` tells
            // the two apart.
            case .refused(.invalidIndex): return try bind(index, nil)
            case .refused(.busy): throw Obstacle(errno: EBUSY, mayPass: true, problem: "cannot switch off")
            case .refused(.permissionDenied): throw Obstacle(errno: EPERM, mayPass: false, problem: "cannot switch off")
            case .system(let failure): throw Obstacle(errno: failure.errno, mayPass: false, problem: "cannot inspect")
            case .refused, .malformed: throw Obstacle(errno: EIO, mayPass: false, problem: "cannot switch off")
            case .silent: throw Obstacle(errno: ETIMEDOUT, mayPass: false, problem: "cannot switch off")
            }
        }
        return try bind(index, wasPowered ? client : nil)
    }

    private func bind(_ index: AdapterIndex, _ restoring: ManagementClient?) throws(Obstacle) -> AdapterLease {
        do {
            return AdapterLease(index, try kernel.openUserChannel(of: index), restoring: restoring)
        } catch {
            try? restoring?.setPowered(true, index)
            throw Obstacle(errno: error.errno, mayPass: error.errno == EBUSY, problem: "cannot open")
        }
    }

    private func explain(_ obstacle: Obstacle, _ index: AdapterIndex) -> TransportError {
        switch obstacle.errno {
        case EPERM, EACCES: .forbidden(index, program: kernel.program)
        case EBUSY: .held(index, errno: EBUSY, by: kernel.holders)
        case EUSERS: .held(index, errno: EBUSY, by: kernel.holders.filter { !$0.isBlueZ })
        case ENODEV, ENXIO:
            .missing(reference == .first ? .index(index) : reference, among: kernel.indexes.filter { $0 != index })
        case ERFKILL: .silenced(index, kernel.block(of: index) ?? .soft)
        case let other: .unusable(index, errno: other, obstacle.problem)
        }
    }
}

extension AdapterKernel {
    /// Returns the block on an adapter's radio; `nil` if the radio is not blocked.
    func block(of index: AdapterIndex) -> RadioSwitch.Block? {
        switches.first { $0.index == index }?.block
    }

    /// Opens a management socket.
    func management() throws(TransportError) -> FileDescriptor {
        do {
            return try openManagement()
        } catch {
            switch error.errno {
            case EAFNOSUPPORT, EPROTONOSUPPORT: throw hasBluetooth ? .hiddenBluetooth : .noBluetooth
            case EPERM, EACCES: throw .forbidden(.none, program: program)
            default: throw .unlisted(.system(error))
            }
        }
    }
}
