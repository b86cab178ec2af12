import Foundation

/// What the other end of a channel sends, as a stream, for any thread.
final class ChannelInputStream: InputStream {
    private let conduit: ChannelConduit

    init(_ conduit: ChannelConduit) {
        self.conduit = conduit
        super.init(data: Data())
        conduit.inputEvents.belong(to: self)
    }

    override func open() {
        conduit.change {
            $0.openInput()
            return []
        }
    }

    override func close() {
        conduit.inputEvents.removeAll()
        conduit.change { $0.closeInput() }
    }

    override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength len: Int) -> Int {
        conduit.read(into: UnsafeMutableBufferPointer(start: buffer, count: max(0, len)))
    }

    override func getBuffer(
        _ buffer: UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>,
        length len: UnsafeMutablePointer<Int>
    ) -> Bool { false }

    override var hasBytesAvailable: Bool { conduit.look { $0.hasBytes } }
    override var streamStatus: Stream.Status { conduit.look { $0.inputStatus } }
    override var streamError: (any Error)? { conduit.look { $0.inputError } }

    override var delegate: (any StreamDelegate)? {
        get { conduit.inputEvents.delegate }
        set { conduit.inputEvents.delegate = newValue }
    }

    override func schedule(in aRunLoop: RunLoop, forMode mode: RunLoop.Mode) {
        conduit.inputEvents.schedule(in: aRunLoop, mode)
    }

    override func remove(from aRunLoop: RunLoop, forMode mode: RunLoop.Mode) {
        conduit.inputEvents.remove(from: aRunLoop, mode)
    }

    override func property(forKey key: Stream.PropertyKey) -> AnyObject? { nil }
    override func setProperty(_ property: AnyObject?, forKey key: Stream.PropertyKey) -> Bool { false }
}
