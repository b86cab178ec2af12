import BLEWire

/// What a host knows of its few links, in the order of their handles.
///
/// What a host does first must not depend on how this process hashes, so the cores iterate no `Dictionary`. A
/// controller has a few dozen links at most, and gives them small numbers: an array of places is also the faster map.
struct ConnectionTable<Value> {
    /// In ascending order; beside the values, which are large, so that a search copies none.
    private(set) var handles: [ConnectionHandle] = [] { didSet { places = LinkPlaces(handles) } }
    private var places = LinkPlaces()
    /// In the order of ``handles``; changed at a place that ``index(of:)`` gave, without a copy, and nowhere else.
    var values: [Value] = []

    var count: Int { handles.count }

    /// The value of `handle`, or `nil` if there is no such link; setting `nil` removes it.
    subscript(handle: ConnectionHandle) -> Value? {
        get { index(of: handle).map { values[$0] } }
        set {
            switch (index(of: handle), newValue) {
            case (let index?, let value?): values[index] = value
            case (let index?, nil):
                handles.remove(at: index)
                values.remove(at: index)
            case (nil, let value?):
                let index = index(after: handle) ?? count
                handles.insert(handle, at: index)
                values.insert(value, at: index)
            case (nil, nil): break
            }
        }
    }

    /// Changes the value of `handle` in place; does nothing, and returns `nil`, if there is none.
    @discardableResult
    mutating func update<Result>(_ handle: ConnectionHandle, _ body: (inout Value) -> Result) -> Result? {
        index(of: handle).map { body(&values[$0]) }
    }

    /// Where the value of `handle` is at the moment, or `nil` if there is none.
    func index(of handle: ConnectionHandle) -> Int? { places[handle] }

    /// The handle at a place, `0..<count`.
    func handle(at index: Int) -> ConnectionHandle { handles[index] }

    /// The first place whose handle is greater than `handle`, or `nil` if there is none.
    func index(after handle: ConnectionHandle) -> Int? { handles.firstIndex { $0 > handle } }

    /// The first handle whose value fits.
    func handle(where fits: (Value) -> Bool) -> ConnectionHandle? {
        values.firstIndex(where: fits).map { handles[$0] }
    }

    mutating func removeAll() {
        handles.removeAll()
        values.removeAll()
    }
}
