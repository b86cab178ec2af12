public import Foundation

// The methods of Foundation that take a target and a selector.

extension NSObjectProtocol where Self: AnyObject {
    /// Returns true if the object has the method of a selector.
    public func responds(to selector: Selector?) -> Bool { selector?.isMethod(of: self) ?? false }

    /// Calls a method of this object.
    @discardableResult
    public func perform(_ selector: Selector) -> Unmanaged<AnyObject>! { unmanaged(selector.call(on: self)) }

    /// Calls a method of this object with an argument.
    @discardableResult
    public func perform(_ selector: Selector, with object: Any?) -> Unmanaged<AnyObject>! {
        unmanaged(selector.call(on: self, [object]))
    }

    /// Calls a method of this object with two arguments.
    @discardableResult
    public func perform(_ selector: Selector, with first: Any?, with second: Any?) -> Unmanaged<AnyObject>! {
        unmanaged(selector.call(on: self, [first, second]))
    }
}

/// Returns an object that lives until the autorelease pool would be drained: it is retained, and never released.
private func unmanaged(_ result: Any?) -> Unmanaged<AnyObject>? {
    guard let result, !(result is Void) else { return nil }
    return Unmanaged.passRetained(result as AnyObject)
}

extension NSObject {
    /// Calls a method of this object after a delay, on the run loop of this thread.
    public func perform(_ selector: Selector, with object: Any?, afterDelay delay: TimeInterval) {
        DelayedCalls.add(to: self, selector, object, after: delay)
    }

    /// Calls a method of this object on the main thread.
    public func performSelector(onMainThread selector: Selector, with object: Any?, waitUntilDone: Bool) {
        nonisolated(unsafe) let call = { _ = selector.call(on: self, [object]) }
        if Thread.isMainThread, waitUntilDone { return call() }
        if waitUntilDone { DispatchQueue.main.sync { call() } } else { DispatchQueue.main.async { call() } }
    }

    /// Cancels the delayed calls of an object's methods.
    public class func cancelPreviousPerformRequests(withTarget target: Any) {
        DelayedCalls.cancel(of: target as AnyObject) { _ in true }
    }

    /// Cancels the delayed calls of a method.
    public class func cancelPreviousPerformRequests(withTarget target: Any, selector: Selector, object: Any?) {
        DelayedCalls.cancel(of: target as AnyObject) { call in
            let isEqual = (call.object as? NSObject) == (object as? NSObject)
            return call.selector == selector && isEqual
        }
    }
}

/// The calls of methods that wait for their time.
private enum DelayedCalls {
    struct Call {
        let target: AnyObject
        let selector: Selector
        let object: Any?
        let timer: Timer
    }

    private static let mutex = NSLock()
    nonisolated(unsafe) private static var calls: [Call] = []

    static func add(to target: NSObject, _ selector: Selector, _ object: Any?, after delay: TimeInterval) {
        let fireDate = Date(timeIntervalSinceNow: delay)
        nonisolated(unsafe) let argument = object
        nonisolated(unsafe) let receiver = target
        let timer = Timer(fire: fireDate, interval: 0, repeats: false) { timer in
            remove { $0.timer === timer }
            selector.call(on: receiver, [argument])
        }
        mutex.withLock { calls.append(Call(target: target, selector: selector, object: object, timer: timer)) }
        RunLoop.current.add(timer, forMode: .default)
    }

    static func cancel(of target: AnyObject, where isCancelled: (Call) -> Bool) {
        for call in remove({ $0.target === target && isCancelled($0) }) { call.timer.invalidate() }
    }

    /// Removes calls, and returns them, so that their targets are released without the lock.
    @discardableResult
    private static func remove(_ isRemoved: (Call) -> Bool) -> [Call] {
        mutex.withLock {
            let removed = calls.filter(isRemoved)
            calls.removeAll(where: isRemoved)
            return removed
        }
    }
}

/// A timer with an object that is given to it when it is created, which Foundation on Linux does not offer.
private final class SelectorTimer: Timer, @unchecked Sendable {
    var information: Any?
    override var userInfo: Any? { information }
}

/// The type `Timer`.
///
/// An initializer in an extension of a protocol can create an object of a subclass.
public protocol SelectorTimerCreation {}

extension Timer: SelectorTimerCreation {}

extension SelectorTimerCreation {
    /// Creates a timer that calls a method of an object. The timer holds the object until it is invalidated.
    public init(timeInterval interval: TimeInterval, target: Any, selector: Selector, userInfo: Any?, repeats: Bool) {
        self.init(
            fireAt: Date(timeIntervalSinceNow: interval),
            interval: interval,
            target: target,
            selector: selector,
            userInfo: userInfo,
            repeats: repeats
        )
    }

    /// Creates a timer that calls a method of an object, first at a date.
    public init(
        fireAt date: Date,
        interval: TimeInterval,
        target: Any,
        selector: Selector,
        userInfo: Any?,
        repeats: Bool
    ) {
        nonisolated(unsafe) let target = target
        let timer = SelectorTimer(fire: date, interval: interval, repeats: repeats) { timer in
            selector.call(on: target, [timer])
        }
        timer.information = userInfo
        self = (timer as Timer) as! Self
    }
}

extension Timer {
    /// Creates a timer, and adds it to the run loop of this thread.
    @discardableResult
    public class func scheduledTimer(
        timeInterval interval: TimeInterval,
        target: Any,
        selector: Selector,
        userInfo: Any?,
        repeats: Bool
    ) -> Timer {
        let timer = Timer(
            timeInterval: interval,
            target: target,
            selector: selector,
            userInfo: userInfo,
            repeats: repeats
        )
        RunLoop.current.add(timer, forMode: .default)
        return timer
    }
}

extension NotificationCenter {
    /// Calls a method of an object for each notification of a name or an object.
    ///
    /// The center does not hold the observer.
    public func addObserver(_ observer: Any, selector: Selector, name: Notification.Name?, object: Any?) {
        let observer = observer as AnyObject, target = WeakTarget(observer)
        let token = addObserver(forName: name, object: object, queue: nil) { notification in
            if let object = target.object { selector.call(on: object, [notification]) }
        }
        Observations.add(.init(observer: observer, center: self, name: name, object: object, token: token))
    }

    /// Ends the calls for an object, or for a token of another observation.
    public func removeObserver(_ observer: AnyObject) {
        Observations.remove(of: observer, in: self) { _ in true }
        removeObserver(observer as Any)
    }

    /// Ends the calls for an object and a name.
    public func removeObserver(_ observer: AnyObject, name: Notification.Name?, object: Any?) {
        Observations.remove(of: observer, in: self) { observation in
            (name == nil || observation.name == name)
                && (object == nil || observation.object === object.map { $0 as AnyObject })
        }
        removeObserver(observer as Any, name: name, object: object)
    }
}

/// A reference to an observer that does not hold it.
private final class WeakTarget: @unchecked Sendable {
    weak var object: AnyObject?
    init(_ object: AnyObject) { self.object = object }
}

/// The observations of objects that were added with selectors.
private enum Observations {
    struct Observation {
        weak var observer: AnyObject?
        let center: NotificationCenter
        let name: Notification.Name?
        weak var object: AnyObject?
        let token: any NSObjectProtocol

        init(
            observer: AnyObject,
            center: NotificationCenter,
            name: Notification.Name?,
            object: Any?,
            token: any NSObjectProtocol
        ) {
            self.observer = observer
            self.center = center
            self.name = name
            self.object = object.map { $0 as AnyObject }
            self.token = token
        }
    }

    private static let mutex = NSLock()
    nonisolated(unsafe) private static var all: [Observation] = []

    /// Adds an observation, and removes those of objects that exist no more.
    static func add(_ observation: Observation) {
        let ended = mutex.withLock {
            let ended = all.filter { $0.observer == nil }
            all.removeAll { $0.observer == nil }
            all.append(observation)
            return ended
        }
        end(ended)
    }

    static func remove(of observer: AnyObject, in center: NotificationCenter, where isRemoved: (Observation) -> Bool) {
        let ended = mutex.withLock {
            let isEnded = { (one: Observation) in
                one.observer === observer && one.center === center && isRemoved(one)
            }
            let ended = all.filter(isEnded)
            all.removeAll(where: isEnded)
            return ended
        }
        end(ended)
    }

    private static func end(_ observations: [Observation]) {
        for one in observations { one.center.removeObserver(one.token as Any) }
    }
}
