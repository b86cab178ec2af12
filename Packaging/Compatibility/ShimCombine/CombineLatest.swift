import ShimOpenCombine

/// A value or the end of one of two publishers.
private enum Event<First, Second> {
    case first(First?)
    case second(Second?)
}

/// The latest values of two publishers.
private struct Latest<First, Second> {
    var first: First?
    var second: Second?
    /// True if one publisher ended without a value: there will be no pair.
    var isEnded = false

    func after(_ event: Event<First, Second>) -> Latest {
        var latest = self
        switch event {
        case .first(let value?): latest.first = value
        case .second(let value?): latest.second = value
        case .first(nil): latest.isEnded = isEnded || first == nil
        case .second(nil): latest.isEnded = isEnded || second == nil
        }
        return latest
    }
}

extension Publishers {
    /// A publisher that delivers the latest values of two publishers whenever one of them delivers a value.
    ///
    /// It ends when both have ended, or when one ends without a value.
    public struct CombineLatest<A: Publisher, B: Publisher>: Publisher where A.Failure == B.Failure {
        public typealias Output = (A.Output, B.Output)
        public typealias Failure = A.Failure

        public let a: A
        public let b: B

        public init(_ a: A, _ b: B) { (self.a, self.b) = (a, b) }

        public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
            typealias Pair = Event<A.Output, B.Output>
            let first = a.map { Pair.first($0) }.append(.first(nil)),
                second = b.map { Pair.second($0) }.append(.second(nil))
            first.merge(with: second)
                .scan((Latest<A.Output, B.Output>(), isValue: false)) { state, event in
                    switch event {
                    case .first(let value): (state.0.after(event), isValue: value != nil)
                    case .second(let value): (state.0.after(event), isValue: value != nil)
                    }
                }
                .prefix { !$0.0.isEnded }
                .compactMap { state -> Output? in
                    guard state.isValue, let first = state.0.first, let second = state.0.second else { return nil }
                    return (first, second)
                }
                .receive(subscriber: subscriber)
        }
    }

    /// A publisher that delivers the latest values of three publishers whenever one of them delivers a value.
    public struct CombineLatest3<A: Publisher, B: Publisher, C: Publisher>: Publisher
    where A.Failure == B.Failure, B.Failure == C.Failure {
        public typealias Output = (A.Output, B.Output, C.Output)
        public typealias Failure = A.Failure

        public let a: A
        public let b: B
        public let c: C

        public init(_ a: A, _ b: B, _ c: C) { (self.a, self.b, self.c) = (a, b, c) }

        public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
            CombineLatest(CombineLatest(a, b), c).map { ($0.0, $0.1, $1) }.receive(subscriber: subscriber)
        }
    }

    /// A publisher that delivers the latest values of four publishers whenever one of them delivers a value.
    public struct CombineLatest4<A: Publisher, B: Publisher, C: Publisher, D: Publisher>: Publisher
    where A.Failure == B.Failure, B.Failure == C.Failure, C.Failure == D.Failure {
        public typealias Output = (A.Output, B.Output, C.Output, D.Output)
        public typealias Failure = A.Failure

        public let a: A
        public let b: B
        public let c: C
        public let d: D

        public init(_ a: A, _ b: B, _ c: C, _ d: D) { (self.a, self.b, self.c, self.d) = (a, b, c, d) }

        public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
            CombineLatest(CombineLatest(a, b), CombineLatest(c, d)).map { ($0.0, $0.1, $1.0, $1.1) }
                .receive(subscriber: subscriber)
        }
    }
}

extension Publisher {
    /// Returns a publisher of the latest values of this publisher and another one.
    public func combineLatest<P: Publisher>(_ other: P) -> Publishers.CombineLatest<Self, P>
    where P.Failure == Failure { .init(self, other) }

    /// Returns a publisher that transforms the latest values of this publisher and another one.
    public func combineLatest<P: Publisher, T>(
        _ other: P,
        _ transform: @escaping (Output, P.Output) -> T
    ) -> Publishers.Map<Publishers.CombineLatest<Self, P>, T> where P.Failure == Failure {
        combineLatest(other).map { transform($0.0, $0.1) }
    }

    /// Returns a publisher of the latest values of this publisher and two other ones.
    public func combineLatest<P: Publisher, Q: Publisher>(_ p: P, _ q: Q) -> Publishers.CombineLatest3<Self, P, Q>
    where P.Failure == Failure, Q.Failure == P.Failure { .init(self, p, q) }

    /// Returns a publisher that transforms the latest values of this publisher and two other ones.
    public func combineLatest<P: Publisher, Q: Publisher, T>(
        _ p: P,
        _ q: Q,
        _ transform: @escaping (Output, P.Output, Q.Output) -> T
    ) -> Publishers.Map<Publishers.CombineLatest3<Self, P, Q>, T> where P.Failure == Failure, Q.Failure == P.Failure {
        combineLatest(p, q).map { transform($0.0, $0.1, $0.2) }
    }

    /// Returns a publisher of the latest values of this publisher and three other ones.
    public func combineLatest<P: Publisher, Q: Publisher, R: Publisher>(
        _ p: P,
        _ q: Q,
        _ r: R
    ) -> Publishers.CombineLatest4<Self, P, Q, R>
    where P.Failure == Failure, Q.Failure == P.Failure, R.Failure == Q.Failure { .init(self, p, q, r) }
}
