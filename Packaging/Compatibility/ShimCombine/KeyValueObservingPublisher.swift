public import CoreBluetooth
public import Foundation
public import ShimFoundation
import ShimOpenCombine

extension NSObject {
    /// A publisher of the values of an observed property.
    public struct KeyValueObservingPublisher<Subject: NSObject, Value>: ShimOpenCombine.Publisher {
        public typealias Output = Value
        public typealias Failure = Never

        fileprivate let values: AnyPublisher<Value, Never>

        /// Publishes a value whenever `observe` calls its argument, and the present value if requested.
        fileprivate init(
            of object: Subject,
            _ keyPath: KeyPath<Subject, Value>,
            _ options: NSKeyValueObservingOptions,
            observe: @escaping (@escaping @Sendable (Subject) -> Void) -> NSKeyValueObservation
        ) {
            values = Deferred {
                nonisolated(unsafe) let subject = PassthroughSubject<Value, Never>()
                let initial = options.contains(.initial) ? [object[keyPath: keyPath]] : []
                nonisolated(unsafe) let path = keyPath
                let observation = observe { subject.send($0[keyPath: path]) }
                return subject.handleEvents(receiveCancel: { observation.invalidate() }).prepend(initial)
            }.eraseToAnyPublisher()
        }

        public func receive<S: Subscriber>(subscriber: S) where S.Input == Value, S.Failure == Never {
            values.receive(subscriber: subscriber)
        }
    }
}

extension _KeyValueCodingAndObserving {
    /// Returns a publisher of the values of a property of a manager or a peripheral.
    public func publisher<Value>(
        for keyPath: KeyPath<Self, Value>,
        options: NSKeyValueObservingOptions = [.initial, .new]
    ) -> NSObject.KeyValueObservingPublisher<Self, Value> {
        NSObject.KeyValueObservingPublisher(of: self, keyPath, options) { changed in
            self.observe(keyPath) { object, _ in changed(object) }
        }
    }

    /// Returns a publisher of the values of a property of a manager or a peripheral.
    public func publisher<Value>(
        for key: KeyPath<Self, _ObservableKey>,
        _ keyPath: KeyPath<Self, Value>,
        options: NSKeyValueObservingOptions = [.initial, .new]
    ) -> NSObject.KeyValueObservingPublisher<Self, Value> { publisher(for: keyPath, options: options) }
}

extension NSObjectProtocol where Self: NSObject {
    /// Returns a publisher of the values of a property that is `dynamic`.
    ///
    /// `ble toolset --objc` replaces `publisher(for: \.isOn)` with a call of this method.
    public func publisher<Value>(
        for key: KeyPath<Self, _ObservableKey>,
        _ keyPath: KeyPath<Self, Value>,
        options: NSKeyValueObservingOptions = [.initial, .new]
    ) -> NSObject.KeyValueObservingPublisher<Self, Value> {
        NSObject.KeyValueObservingPublisher(of: self, keyPath, options) { changed in
            self.observe(key, keyPath) { object, _ in changed(object) }
        }
    }
}
