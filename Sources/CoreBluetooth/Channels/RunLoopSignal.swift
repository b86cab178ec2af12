import CoreFoundation
import Foundation

/// A signal that runs a closure on the thread of a run loop.
///
/// If it is signalled several times before the closure runs, the run loop calls the closure once.
///
/// With `RunLoop`, another thread cannot run code on the loop's thread without a delay, so this class uses a source of
/// the underlying CFRunLoop. For the main thread, it also uses the main queue, which works even if nothing runs the
/// main run loop: in programs with an asynchronous `main`, and in tests.
///
/// Sendable because a lock protects the state, and run loops and their sources can be used from any thread.
final class RunLoopSignal: @unchecked Sendable {
    private enum State {
        /// The underlying run loop is not known yet.
        case waiting(signalled: Bool)
        case installed(CFRunLoop, CFRunLoopSource)
        case removed
    }

    /// The object that the source retains and calls.
    private final class Target {
        let action: @Sendable () -> Void
        init(_ action: @escaping @Sendable () -> Void) { self.action = action }
    }

    private let action: @Sendable () -> Void
    private let usesMainQueue: Bool
    private let order: Int
    private let lock = NSLock()
    private var state = State.waiting(signalled: false)

    /// Creates a signal that runs `action`, but only while `loop` runs in `mode`.
    ///
    /// Of several signals on a run loop, the one with the lowest `order` is handled first.
    init(in loop: RunLoop, mode: RunLoop.Mode, order: Int, _ action: @escaping @Sendable () -> Void) {
        self.action = action
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

    /// Makes the run loop call the closure soon.
    func signal() {
        let installed: (CFRunLoop, CFRunLoopSource)? = lock.withLock {
            switch state {
            case .waiting:
                state = .waiting(signalled: true)
                return nil
            case .installed(let loop, let source): return (loop, source)
            case .removed: return nil
            }
        }
        guard let (loop, source) = installed else { return }
        CFRunLoopSourceSignal(source)
        CFRunLoopWakeUp(loop)
        if usesMainQueue { DispatchQueue.main.async(execute: action) }
    }

    /// Removes the signal from its run loop.
    ///
    /// The closure may still run once, if the run loop is about to call it.
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
        // The source owns one reference, and releases it when the source is destroyed.
        context.info = Unmanaged.passRetained(Target(action)).toOpaque()
        context.release = { info in info.map { Unmanaged<Target>.fromOpaque($0).release() } }
        context.perform = { info in
            if let info { Unmanaged<Target>.fromOpaque(info).takeUnretainedValue().action() }
        }
        guard let source = CFRunLoopSourceCreate(nil, order, &context) else { return }
        let wasSignalled: Bool? = lock.withLock {
            guard case .waiting(let signalled) = state else { return nil }
            state = .installed(loop, source)
            return signalled
        }
        guard let wasSignalled else { return }
        CFRunLoopAddSource(loop, source, Self.name(of: mode))
        if wasSignalled { signal() }
    }

    private static func name(of mode: RunLoop.Mode) -> CFRunLoopMode? {
        switch mode {
        case .common: kCFRunLoopCommonModes
        case .default: kCFRunLoopDefaultMode
        default: CFStringCreateWithCString(nil, mode.rawValue, CFStringBuiltInEncodings.UTF8.rawValue)
        }
    }
}
