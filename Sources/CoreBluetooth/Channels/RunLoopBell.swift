import CoreFoundation
import Foundation

/// Has something done on the thread of a run loop, as often as it is rung, and rings before that count as one.
///
/// `RunLoop` lets no other thread in without a delay of its own, so this is a source of the run loop underneath. On the
/// main thread it also goes through the main queue, which is served even where nobody runs the main run loop: in a
/// program with an asynchronous `main`, and in tests.
///
/// Sendable because a lock guards what changes, and run loops and their sources may be told things from any thread.
final class RunLoopBell: @unchecked Sendable {
    private enum State {
        /// The run loop has yet to say which one it is.
        case waiting(rung: Bool)
        case installed(CFRunLoop, CFRunLoopSource)
        case removed
    }

    /// What the source keeps, and calls.
    private final class Clapper {
        let strike: @Sendable () -> Void
        init(_ strike: @escaping @Sendable () -> Void) { self.strike = strike }
    }

    private let strike: @Sendable () -> Void
    private let usesMainQueue: Bool
    private let order: Int
    private let lock = NSLock()
    private var state = State.waiting(rung: false)

    /// Creates a bell, which is heard only while `loop` runs in `mode`; of several, the one with the least order first.
    init(in loop: RunLoop, mode: RunLoop.Mode, order: Int, _ strike: @escaping @Sendable () -> Void) {
        self.strike = strike
        self.order = order
        let isMain = loop === RunLoop.main
        usesMainQueue = isMain && [.default, .common].contains(mode)
        if isMain {
            install(in: CFRunLoopGetMain(), mode)
        } else if loop === RunLoop.current {
            install(in: CFRunLoopGetCurrent(), mode)
        } else {
            let timer = Timer(timeInterval: 0, repeats: false) { _ in
                self.install(in: CFRunLoopGetCurrent(), mode)
            }
            loop.add(timer, forMode: mode)
        }
    }

    /// Has the run loop call what the bell was made for, soon.
    func ring() {
        let installed: (CFRunLoop, CFRunLoopSource)? = lock.withLock {
            switch state {
            case .waiting:
                state = .waiting(rung: true)
                return nil
            case .installed(let loop, let source): return (loop, source)
            case .removed: return nil
            }
        }
        guard let (loop, source) = installed else { return }
        CFRunLoopSourceSignal(source)
        CFRunLoopWakeUp(loop)
        if usesMainQueue { DispatchQueue.main.async(execute: strike) }
    }

    /// Takes the bell off its run loop, which may be about to be heard one last time.
    func remove() {
        let source: CFRunLoopSource? = lock.withLock {
            defer { state = .removed }
            if case .installed(_, let source) = state { return source }
            return nil
        }
        if let source { CFRunLoopSourceInvalidate(source) }
    }

    private func install(in loop: CFRunLoop, _ mode: RunLoop.Mode) {
        var context = CFRunLoopSourceContext()
        // The source is handed one reference, and gives it back when it goes.
        context.info = Unmanaged.passRetained(Clapper(strike)).toOpaque()
        context.release = { info in info.map { Unmanaged<Clapper>.fromOpaque($0).release() } }
        context.perform = { info in
            if let info { Unmanaged<Clapper>.fromOpaque(info).takeUnretainedValue().strike() }
        }
        guard let source = CFRunLoopSourceCreate(nil, order, &context) else { return }
        let wasRung: Bool? = lock.withLock {
            guard case .waiting(let rung) = state else { return nil }
            state = .installed(loop, source)
            return rung
        }
        guard let wasRung else { return }
        CFRunLoopAddSource(loop, source, Self.name(of: mode))
        if wasRung { ring() }
    }

    private static func name(of mode: RunLoop.Mode) -> CFRunLoopMode? {
        switch mode {
        case .common: kCFRunLoopCommonModes
        case .default: kCFRunLoopDefaultMode
        default: CFStringCreateWithCString(nil, mode.rawValue, CFStringBuiltInEncodings.UTF8.rawValue)
        }
    }
}
